//! The HTTP door: the memory API, its health and its metrics.
//!
//! Owns: routes, permissions, the JSON types ([`wire`]), status codes, limits of requests and connections. Never: a use case
//! (`memory`, `background`, `proxy`) or the meaning of a filter (`model`).
//!
//! Reading order, from below: [`wire`] (what is asked and answered), [`settings`], [`failure`], [`state`] (what all requests share: [`budget`], [`writes`], [`metrics`], [`deletions`]), [`dialect`]
//! and [`access`] (which clients a path is for, and what it needs). Then the way of one request: [`serve`] (connections), [`frame`] (id, log, metrics,
//! errors into envelopes) with [`guard`] (who asks) and [`browser`], [`body`] (JSON in), [`unpack`] (a compressed one), [`describe`], and a handler of [`add`],
//! [`recall`], [`forget`], [`survey`], [`review`], [`skills`], [`edit`] with [`profile`], [`portable`], [`tasks`], [`runs`], [`upkeep`], [`owners`], [`cache`], [`history`], [`knowledge`]
//! with [`upload`] (a form in), [`contexts`], [`system`], [`v1`] (the models' own routes) with [`asker`], [`mem0`] (mem0's), [`page`] or [`agents`] (other crates'
//! doors); [`lookup`] finds the memory of an id, [`present`] makes the engine's answers wire types. Above them: [`routes`], [`openapi`], [`router`]. [`client`] is the other end: it asks a
//! gateway, near or far, [`reply`] reads what it answers, and [`form`] is what is uploaded. A handler imports nothing that lists handlers.

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
mod writes;

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
