//! The ledger in memory: one struct, six ports, no durability.
//!
//! Owns: the protocol checks (a caller that breaks a port's promise panics with the reason) and the planned
//! faults. Never: indexes; every query scans all rows.

mod carried;
mod changes;
mod conversations;
mod forgotten_words;
mod history;
mod jobs;
mod runs;
mod sweep;
mod transcripts;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use model::{CellId, CutReason, Date, Message, Owner, Scope, SessionKey, Timestamp};
use ports::{FileRecord, Job, LedgerError, VaultPath};

/// The effect of a planned fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call fails without effect.
    Refused,
    /// The call fails although it had its full effect: the answer was lost.
    AnswerLost,
    /// The call fails without effect, and so does every later one until [`MemoryLedger::repair`]: the process
    /// died here.
    Down,
}

/// The ledger's ports in memory.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    state: Mutex<State>,
    calls: Mutex<Calls>,
}

#[derive(Debug, Default)]
struct Calls {
    made: usize,
    /// A fault at the call of this number, counted like `made`.
    planned: Option<(usize, Fault)>,
    down: bool,
}

#[derive(Debug, Default)]
struct State {
    /// In order of their first message.
    sessions: Vec<SessionKey>,
    titles: BTreeMap<SessionKey, String>,
    /// The digests of deleted client ids, and of sessions that lost their title.
    forgotten: BTreeSet<(Scope, String)>,
    /// The marks of deleted words.
    words: BTreeSet<(Scope, Vec<u8>)>,
    /// The time of each session's last message.
    touched: BTreeMap<SessionKey, Timestamp>,
    /// In order of arrival.
    messages: Vec<Stored>,
    cells: Vec<StoredCell>,
    /// Users without a message left in a session whose buffer holds answers to them and nothing of a user.
    answered: BTreeSet<(SessionKey, Owner)>,
    /// In order of arrival.
    jobs: Vec<StoredJob>,
    files: BTreeMap<VaultPath, FileRecord>,
    /// The recorded files in the order in which each was first recorded.
    recorded: Vec<VaultPath>,
    conversations: BTreeMap<SessionKey, conversations::Stored>,
    /// In order of arrival.
    objects: BTreeMap<(Scope, Owner), Vec<String>>,
    runs: runs::Kept,
    history: history::Kept,
    copies: BTreeSet<Date>,
}

/// A message is in the buffer or in one memcell, since it has one field for its place.
#[derive(Debug)]
struct Stored {
    message: Message,
    client_id: Option<String>,
    repeat_key: Option<String>,
    cell: Option<CellId>,
}

#[derive(Debug)]
struct StoredCell {
    id: CellId,
    session: SessionKey,
    owners: Vec<Owner>,
    reason: CutReason,
    written: bool,
}

#[derive(Debug)]
struct StoredJob {
    job: Job,
    run_at: Timestamp,
    /// Meaningful while the job is leased.
    lease_until: Timestamp,
}

impl MemoryLedger {
    /// An empty ledger.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of calls so far, on all ports together.
    pub fn calls(&self) -> usize {
        self.calls_now().made
    }

    /// Plans a fault for the `n`-th call from now, counted from 1; it replaces an earlier planned fault.
    pub fn fail_call(&self, n: usize, fault: Fault) {
        assert!(n > 0, "calls are counted from 1");
        let mut calls = self.calls_now();
        calls.planned = Some((calls.made + n, fault));
    }

    /// Removes every fault, planned or active, as a restart does.
    pub fn repair(&self) {
        let mut calls = self.calls_now();
        calls.planned = None;
        calls.down = false;
    }

    /// Every message with its memcell; none while it is in the buffer.
    pub fn everything(&self) -> Vec<(Message, Option<CellId>)> {
        let state = self.state.lock().expect("no call panicked");
        let messages = state.messages.iter();
        messages.map(|m| (m.message.clone(), m.cell.clone())).collect()
    }

    fn calls_now(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().expect("nothing panics while counting")
    }

    fn next_fault(&self) -> Option<Fault> {
        let mut calls = self.calls_now();
        calls.made += 1;
        if calls.down {
            return Some(Fault::Refused);
        }
        let (at, fault) = calls.planned?;
        if calls.made != at {
            return None;
        }
        calls.planned = None;
        calls.down = fault == Fault::Down;
        Some(fault)
    }

    /// Counts a call and runs it, unless a fault is planned for it.
    fn call<T>(&self, work: impl FnOnce(&mut State) -> Result<T, LedgerError>) -> Result<T, LedgerError> {
        match self.next_fault() {
            None => work(&mut self.state.lock().expect("no call panicked")),
            Some(Fault::AnswerLost) => {
                work(&mut self.state.lock().expect("no call panicked"))?;
                Err(LedgerError::Store("planned fault: the answer was lost".into()))
            }
            Some(Fault::Refused | Fault::Down) => Err(LedgerError::Store("planned fault: refused".into())),
        }
    }
}
