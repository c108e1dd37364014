//! The HTTP door: the memory API, its health and its metrics.
//!
//! Owns: routes, permissions, envelopes, status codes, limits of requests and connections. Never: a use case
//! (`engine`), the JSON types (`wire`), or the meaning of a filter (`model`).
//!
//! Reading order: [`settings`], then the way of one request: [`serve`] (connections), [`frame`] (id, log, metrics,
//! errors into envelopes), [`guard`] (who asks), [`routes`], [`body`] (JSON in), [`unpack`] (a compressed one), [`writes`] (what a client that hangs up
//! does not end), a handler of [`add`], [`recall`], [`forget`], [`edit`] with [`profile`], [`portable`], [`tasks`], [`upkeep`], [`owners`], [`cache`], [`history`], [`knowledge`] with
//! [`upload`] (a form in), [`system`], [`reference`] (the API as a page), [`v1`] (the models' own routes), [`mem0`] (mem0's), [`page`] or [`agents`] (other crates' doors), and [`present`] (the engine's answer as wire types). [`client`] is the
//! other end: it asks a gateway, near or far, and [`form`] is what it uploads.

mod add;
mod agents;
mod asker;
mod body;
mod budget;
mod cache;
mod client;
mod contexts;
mod deletions;
mod describe;
mod edit;
mod failure;
mod forget;
mod form;
mod frame;
mod guard;
mod health;
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
mod review;
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
mod writes;

pub use asker::Asker;
pub use client::{Arriving, AskError, Client, ClientReply};
pub use form::Form;
pub use openapi::openapi_json;
pub use page::{Visitor, cookie};
pub use proxy::{NOTE, defused, wrapped};
pub use serve::ServeError;
pub use settings::{Auth, GatewaySettings, IssuedTokens, Secret, Token, TokenRole};
pub use state::Gateway;
