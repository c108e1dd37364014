//! The providers against a real HTTP server on this machine, with time in the test's hands.

mod chat;
mod embeddings;
mod engine;
mod hub;
mod rerank;
mod server;
mod timer;
mod upstream;
