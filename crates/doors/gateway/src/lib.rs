//! The HTTP door: the memory API, its health and its metrics.
//!
//! Owns: routes, who may ask, envelopes, status codes, limits of requests and connections. Never: a use case
//! (`engine`), the JSON types (`wire`), or what a filter means (`model`).
//!
//! Reading order: [`settings`], then the way of one request: [`serve`] (connections), [`frame`] (id, log, metrics,
//! errors into envelopes), [`guard`] (who asks), [`routes`], [`body`] (JSON in), [`writes`] (what a client that hangs up
//! does not end), a handler of [`add`], [`recall`],
//! [`forget`], [`tasks`] or [`system`], and [`present`] (the engine's answer as wire types).

mod add;
mod body;
mod failure;
mod forget;
mod frame;
mod guard;
mod health;
mod metrics;
mod openapi;
pub mod present;
mod recall;
mod routes;
mod serve;
mod settings;
mod state;
mod system;
mod tasks;
mod writes;

pub use openapi::openapi_json;
pub use serve::ServeError;
pub use settings::{Auth, Secret, Settings, Token};
pub use state::Gateway;
