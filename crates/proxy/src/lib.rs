//! A turn of a conversation through the proxy: what goes to the model, and what is kept of it.
//!
//! Owns: conversations of clients that only change a base URL, the order of a turn, the gate that keeps background calls off a
//! server that somebody waits for, the measure of every request. Never: HTTP (`gateway` speaks to clients, `providers` to
//! servers), what a prefix is (`prefix`), what leaves a view (`context`).
//!
//! Reading order: [`Proxy`] (its parts), `whose` (whose a request is), `turn` (its order), `said` (what a request says), `side` (whether a
//! client asks it for itself), `store` and `talk` (conversations), `responses` (those that a server holds), `given` with `recall` and `skills` (what a turn
//! is given), `outgoing` (to the server), `overflow` (a prompt that is too long for it),
//! `after` (the answer), `learn` (what memory keeps of it), `keeper` (the
//! disk), `idle` (between turns), [`gate`], [`GatedChat`], [`measure`],
//! [`Refusal`].

mod after;
mod aside;
mod beside;
mod body;
mod direct;
pub mod gate;
mod gated;
mod given;
mod idle;
mod learn;
pub mod measure;
mod outgoing;
mod overflow;
mod proxy;
mod recall;
mod refusal;
mod said;
mod side;
mod skills;
mod steady;
mod turn;

pub use after::{Answer, Injected};
pub use conversation::name_of;
pub use direct::{Assembled, Assembly, Direct, DirectParts};
pub use gated::GatedChat;
pub use proxy::{Instructions, Memory, Parts, Proxy, Request, Route, Speech};
pub use recall::{Context, context};
pub use refusal::Refusal;
