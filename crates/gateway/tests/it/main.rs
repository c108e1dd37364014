//! The HTTP surface, in process, over the real engine on in-memory stores.

mod auth;
mod bad_input;
mod client;
mod compaction;
mod contexts;
mod forget;
mod frame;
mod gate;
mod history;
mod house;
mod isolation;
mod knowledge;
mod library;
mod memorize;
mod openapi;
mod profile;
mod recall;
mod runs;
mod serving;
mod skills;
mod system;
mod tasks;
mod update;
mod upkeep;
mod uploads;
mod v1;
