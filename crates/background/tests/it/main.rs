//! The offline engine on a ledger in memory and a clock that tests turn; on the real ledger in tests where a process
//! dies.

mod budget;
mod calls;
mod faults;
mod kill;
mod life;
mod seeds;
mod stage;
mod strategies;
mod tries;
