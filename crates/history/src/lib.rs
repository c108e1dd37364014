//! The vault's own history: a git repository in its folder, which a person may use as well.
//!
//! Owns: `.git` in the vault, if it made it, and the lock that serialises its handles. Never: another's repository, a
//! file below a link, the machine's clock, or the network.
//!
//! What a crash interrupts is told by a note in the repository, and whoever comes next finishes it.
//!
//! Reading order: [`GitHistory`], [`repository`] (making, opening, one at a time, healing), [`record`] (from disk to a
//! change), [`read`] (from changes to what the port tells), [`undo`], [`purge`] (forgetting), [`rewrite`] (what it does to the
//! changes of before), [`pack`] (keeping it small), [`reach`] (which objects are needed).

mod history;
mod pack;
mod purge;
mod reach;
mod read;
mod record;
mod repository;
mod rewrite;
mod undo;

#[cfg(test)]
mod tests;

pub use history::GitHistory;
pub use repository::hold;
