//! The providers with a real HTTP server on this machine, and a clock that the test controls.

mod chat;
mod embeddings;
mod engine;
mod hub;
mod rerank;
mod server;
mod timer;
mod upstream;
