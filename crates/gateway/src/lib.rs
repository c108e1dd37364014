//! The HTTP door: the memory API, its health and its metrics.
//!
//! Owns: routes, permissions, the JSON types ([`wire`]), status codes, limits of requests and connections. Never: a
//! use case (`memory`, `background`, `proxy`) or the meaning of a filter (`model`).
//!
//! Reading order, from below: [`wire`] (requests and answers), [`settings`], [`failure`], [`state`] (shared by all
//! requests: [`budget`], [`metrics`], [`deletions`]), [`dialect`] and [`access`] (the clients of a path,
//! and the role that it needs). Then the way of one request: [`serve`] (connections), [`frame`] (id, log, metrics,
//! envelopes of errors) with [`guard`] (authentication) and [`browser`], [`body`] (JSON), [`unpack`] (compressed
//! bodies), [`describe`], and a handler of [`add`], [`recall`], [`forget`], [`survey`], [`review`], [`skills`],
//! [`edit`] with [`profile`], [`portable`], [`tasks`], [`runs`], [`upkeep`], [`owners`], [`cache`], [`history`],
//! [`knowledge`] with [`upload`] (a form with a file), [`contexts`], [`system`], [`v1`] (the model servers' routes)
//! with [`asker`], [`mem0`] (mem0's routes), [`page`] or [`agents`] (doors of other crates); [`lookup`] finds the
//! memory of an id, [`present`] turns the engine's answers into wire types. Above them: [`routes`], [`openapi`],
//! [`router`]. [`client`] calls a gateway in this process or over TCP, [`reply`] reads its answers, and [`form`] is
//! an upload. A handler imports no module that lists handlers.

mod access;
mod add;
mod agents;
mod asker;
mod body;
mod browser;
mod budget;
mod cache;
mod client;
mod contexts;
mod deletions;
mod describe;
mod dialect;
mod edit;
mod failure;
mod forget;
mod form;
mod frame;
mod guard;
mod history;
mod knowledge;
mod lookup;
mod mem0;
mod metrics;
mod openapi;
mod owners;
mod page;
mod portable;
mod present;
mod profile;
mod recall;
mod reply;
mod review;
mod router;
mod routes;
mod runs;
mod serve;
mod settings;
mod skills;
mod state;
mod survey;
mod system;
mod tasks;
mod unpack;
mod upkeep;
mod upload;
mod v1;
pub mod wire;

pub use asker::Asker;
pub use browser::cookie;
pub use client::{Arriving, AskError, Client};
pub use form::Form;
pub use openapi::openapi_json;
pub use page::Visitor;
pub use proxy::{NOTE, defused, wrapped};
pub use reply::{ApiError, ClientReply, reason};
pub use serve::ServeError;
pub use settings::{Auth, GatewaySettings, IssuedTokens, Secret, Token, TokenRole};
pub use state::Gateway;
