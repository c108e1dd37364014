//! The door for agents that speak the Model Context Protocol.
//!
//! Owns: tools, resources and prompts, and what a model reads of them. Never: a use case; every tool asks the HTTP API.
//!
//! Reading order: [`api`] (how a tool asks), [`door`] (what the protocol calls), [`tools`] and `tools.json` (what a model
//! can do), [`shown`] (what it reads), [`resources`], [`skills`], [`prompts`], then the two ways in: [`stdio`] and [`http`].

mod api;
mod door;
mod http;
mod prompts;
mod resources;
mod shown;
mod skills;
mod stdio;
mod tools;

pub use api::{ApiRequest, MemoryApi, Unanswered};
pub use door::{Door, DoorOwner, Now};
pub use http::routes;
pub use stdio::{StdioError, serve};
