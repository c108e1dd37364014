//! A turn of a conversation through the proxy: the request to the model, and the memory of the turn.
//!
//! Owns: conversations of clients that only change a base URL, the order of a turn, the gate that keeps background
//! calls away from a server in use, the measure of every request. Never: HTTP (`gateway` talks to clients, `providers`
//! to servers), the definition of a prefix (`prefix`), choosing the items that leave a view (`context`).
//!
//! Reading order: [`Proxy`] (its parts), `reach` (what a token can reach), `turn` (its order), `input` (the messages of
//! a request), `side` (requests of the client itself), [`conversation`] (what every door shares: log, view, store),
//! `additions` with `recall` and `skills` (the text added to a turn), `outgoing` (to the server), `target`, `overflow`
//! (prompts over the server's limit), `after` (the answer), `learn` (the memory of a turn), `idle` (between turns),
//! `direct` (turns without a server), [`gate`], [`GatedChat`], [`measure`], [`Refusal`].

mod additions;
mod after;
mod blocking;
mod body;
pub mod conversation;
mod direct;
pub mod gate;
mod gated;
mod idle;
mod input;
mod last_requests;
mod learn;
pub mod measure;
mod outgoing;
mod overflow;
mod parts;
mod proxy;
mod reach;
mod recall;
mod refusal;
mod side;
mod skills;
mod slots;
mod steady;
mod target;
mod turn;

pub use after::{Injected, ProxyAnswer};
pub use conversation::{name_of, room::FRAGMENT_TOKENS_MAX};
pub use direct::{AssembledRequest, Assembly, Direct};
pub use gated::GatedChat;
pub use parts::{DirectParts, Instructions};
pub use prefix::fragment::{NOTE, defused, wrapped};
pub use proxy::{MemoryUse, Proxy, ProxyParts, Request, Speech};
pub use recall::{ContextOf, RecalledContext, context, opening, sure};
pub use refusal::Refusal;
pub use target::Route;
