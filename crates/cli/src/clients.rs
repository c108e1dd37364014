//! Agents that are installed on this machine, and the entries that connect them with Quipu.
//!
//! Owns: where each client keeps its configuration, the edit that adds Quipu to it, and the undo. Never: a server, or the
//! decision to write.
//!
//! Reading order: [`table`] (the clients), [`edit`] (adds an entry to a text, or removes it), [`plan`] (the planned changes of a
//! client's files), [`store`] (writes them, and undoes them).

mod diff;
mod edit;
mod machine;
mod plan;
mod store;
mod table;
mod wiring;

pub(crate) use diff::unified;
pub(crate) use machine::ClientMachine;
pub(crate) use plan::{ClientPlan, ConfigChange, WiredFile, plan, wired};
pub(crate) use store::{ChangeStore, RestoredFile, StoreError};
pub(crate) use table::{AgentClient, CLIENTS, ClientDoor};
pub(crate) use wiring::Wiring;

#[cfg(test)]
mod tests;
