//! The engine on fakes: it must lose nothing, do nothing twice, and bring nothing deleted back.

#![expect(clippy::disallowed_methods, reason = "a test owns the tasks that it spawns")]

mod away;
mod by_words;
mod concurrency;
mod copies;
mod crashes;
mod curating;
mod erasing;
mod files;
mod forgetting;
mod hands;
mod held;
mod history;
mod idle;
mod indexing;
mod jobs;
mod library;
mod models;
mod orders;
mod pages;
mod panics;
mod paper;
mod projects;
mod queue;
mod reading;
mod reranking;
mod reviewing;
mod rounds;
mod seeds;
mod slow;
mod stage;
mod together;
mod two;
