//! A turn of a conversation through the proxy: what goes to the model, and what is kept of it.
//!
//! Owns: conversations of clients that only change a base URL, the order of a turn, the gate that keeps background calls off a
//! server that somebody waits for, the measure of every request. Never: HTTP (`gateway` speaks to clients, `providers` to
//! servers), what a prefix is (`prefix`), what leaves a view (`context`).

pub mod gate;
