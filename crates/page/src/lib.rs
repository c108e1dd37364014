//! The page that a person opens in a browser: the memories, their sources, and every way to change them.
//!
//! Owns: views, forms, drawings, style and script. Never: a use case, or a visitor's permissions; every view calls
//! the HTTP API with the visitor's token.
//!
//! Reading order: [`routes`], [`visit`] (the visitor and the chosen memory), [`frame`] (the frame of every view),
//! then the views: [`now`] with [`background`] and [`health`], [`memories`] with [`search`] and its [`cards`],
//! [`memory`] with [`past`], [`review`], [`forget`], [`conversation`], [`skills`], [`documents`], [`import`],
//! [`sign_in`]. [`draw`] draws, [`words`] writes numbers and dates, [`assets`] serves style and script.

mod assets;
mod background;
mod cards;
mod conversation;
mod documents;
mod draw;
mod forget;
mod frame;
mod health;
mod import;
mod memories;
mod memory;
mod now;
mod past;
mod review;
mod routes;
mod search;
mod sign_in;
mod skills;
mod visit;
mod words;

pub use import::{ImportJob, ImportProgress, Importer, Importing};
pub use routes::routes;
