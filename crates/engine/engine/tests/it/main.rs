//! The engine on fakes: what it must never lose, never do twice, and never bring back.

mod concurrency;
mod crashes;
mod faults;
mod forgetting;
mod hands;
mod indexing;
mod jobs;
mod models;
mod paper;
mod reading;
mod stage;
