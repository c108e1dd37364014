//! The door for agents that speak the Model Context Protocol.
//!
//! Owns: tools, resources, prompts, and the text that a model reads of them. Never: a use case; every tool calls the
//! HTTP API.
//!
//! Reading order: [`api`] (how a tool calls the API), [`door`] (the protocol's handlers), [`tools`] and `tools.json`
//! (the tools of a model), [`render`] (their answers), [`resources`], [`skills`], [`prompts`], then the two
//! transports: [`stdio`] and [`http`].

mod api;
mod door;
mod http;
mod prompts;
mod render;
mod resources;
mod skills;
mod stdio;
mod tools;

pub use api::{ApiRequest, MemoryApi, Unanswered};
pub use door::{Door, DoorOwner, Now};
pub use http::routes;
pub use stdio::{StdioError, serve};
