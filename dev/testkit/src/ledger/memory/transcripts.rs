//! Logs, buffers and memcells in memory.
//!
//! Owns: `Transcripts` of the fake. Never: jobs, other than those that come with a memcell.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use model::{Cell, CellId, Message, MessageId, Owner, OwnerKind, Scope, SessionKey, Timestamp};
use ports::{
    Accepted, AppendOutcome, Buffered, Carried, Cut, CutWithAppend, Forgotten, JobKind, LedgerError,
    NewMessage, Sweep, Transcripts, WrittenCell,
};

use super::{MemoryLedger, State, Stored, StoredCell, carried::digest, sweep::speaker};

impl State {
    fn buffered<'a>(&'a self, session: &'a SessionKey) -> impl Iterator<Item = &'a Stored> {
        self.messages
            .iter()
            .filter(move |m| m.cell.is_none() && &m.message.session == session)
    }

    fn touch(&mut self, session: &SessionKey, now: Timestamp) {
        self.touched.insert(session.clone(), now);
        if !self.sessions.contains(session) {
            self.sessions.push(session.clone());
        }
    }

    /// The equal message among the first `known`, if it was accepted before.
    fn seen(&self, known: usize, session: &SessionKey, new: &NewMessage) -> Option<MessageId> {
        let of_session = self.messages.iter().filter(|m| &m.message.session == session);
        let mut named = of_session.filter(|m| m.client_id.is_some() && m.client_id == new.client_id);
        named
            .next()
            .map(|m| m.message.id.clone())
            .or_else(|| self.equal(known, new))
    }

    fn accept(
        &mut self,
        known: usize,
        session: &SessionKey,
        new: NewMessage,
        (is_again, original): (bool, Option<MessageId>),
    ) -> Accepted {
        let seen = self.seen(known, session, &new).or(original);
        let was_forgotten =
            seen.is_none() && (is_again || self.is_forgotten(session, new.client_id.as_deref()));
        let restored = was_forgotten && new.accept_forgotten;
        if restored {
            self.strike(&session.scope, &new);
            if new.client_id.is_some() {
                self.forgotten.remove(&digest(session, new.client_id.as_deref()));
            }
        }
        let accepted = Accepted {
            id: seen.clone().unwrap_or_else(|| new.message.id.clone()),
            duplicate: seen.is_some() || (was_forgotten && !restored),
            forgotten: was_forgotten && !restored,
            restored,
        };
        if !accepted.duplicate {
            self.messages.push(Stored {
                message: new.message,
                client_id: new.client_id,
                repeat_key: new.repeat_key,
                cell: None,
            });
        }
        accepted
    }

    /// Refuses a second, different message with a used id in the same scope.
    fn refuse_taken_ids(
        &self,
        session: &SessionKey,
        messages: &[NewMessage],
        again: &[bool],
    ) -> Result<(), LedgerError> {
        let of_scope = self
            .messages
            .iter()
            .filter(|m| m.message.session.scope == session.scope);
        let mut taken: BTreeSet<&MessageId> = of_scope.map(|m| &m.message.id).collect();
        let mut client_ids = BTreeSet::new();
        for (new, is_again) in messages.iter().zip(again) {
            let is_left_out =
                !new.accept_forgotten && (*is_again || self.is_forgotten(session, new.client_id.as_deref()));
            let is_seen = self.seen(self.messages.len(), session, new).is_some();
            let is_duplicate =
                new.client_id.as_ref().is_some_and(|id| !client_ids.insert(id)) || is_seen || is_left_out;
            if !is_duplicate && !taken.insert(&new.message.id) {
                return Err(LedgerError::Store("the message id is taken".into()));
            }
        }
        Ok(())
    }

    fn accept_all(
        &mut self,
        session: &SessionKey,
        messages: Vec<NewMessage>,
        now: Timestamp,
    ) -> Result<AppendOutcome, LedgerError> {
        let again = self.again(session, &messages);
        self.refuse_taken_ids(session, &messages, &again)?;
        let originals = self.originals(session, &messages);
        let (mut accepted, known) = (Vec::new(), self.messages.len());
        for (new, of_new) in messages.into_iter().zip(again.into_iter().zip(originals)) {
            accepted.push(self.accept(known, session, new, of_new));
        }
        if accepted.iter().any(|a| !a.duplicate) {
            self.touch(session, now);
        } else if !self.messages.iter().any(|m| &m.message.session == session) {
            self.titles.remove(session);
        }
        Ok(AppendOutcome {
            accepted,
            buffered: self.buffered(session).count(),
            is_cut: false,
        })
    }

    fn take(&mut self, cut: Cut) -> Result<(), LedgerError> {
        let mut leaving = BTreeSet::new();
        for message in cut.cells.iter().flat_map(|cell| &cell.messages) {
            let is_buffered = self.buffered(&cut.session).any(|m| m.message.id == message.id);
            if !is_buffered || !leaving.insert(message.id.clone()) {
                return Err(LedgerError::Conflict);
            }
        }
        for cell in cut.cells {
            let is_taken = self.cells.iter().any(|c| c.id == cell.id);
            assert!(!is_taken, "a memcell's id is used twice");
            let of_cell = |m: &&mut Stored| {
                m.message.session == cell.session && cell.messages.iter().any(|c| c.id == m.message.id)
            };
            for stored in self.messages.iter_mut().filter(of_cell) {
                stored.cell = Some(cell.id.clone());
            }
            self.cells.push(StoredCell {
                id: cell.id,
                session: cell.session,
                owners: cell.owners,
                reason: cell.reason,
                written: false,
            });
        }
        for job in cut.jobs {
            let created = job.run_at;
            self.queue(job, created);
        }
        Ok(())
    }

    fn cell_of(&self, cell: &StoredCell) -> Cell {
        let messages = self.messages.iter().filter(|m| m.cell.as_ref() == Some(&cell.id));
        Cell {
            id: cell.id.clone(),
            session: cell.session.clone(),
            messages: by_time(messages),
            owners: cell.owners.clone(),
            reason: cell.reason,
        }
    }

    pub(super) fn speaks_in(&self, owner: &Owner, session: &SessionKey) -> bool {
        let mut messages = self.messages.iter();
        messages.any(|m| &m.message.session == session && speaker(&m.message) == *owner)
            || self.answered.contains(&(session.clone(), owner.clone()))
    }

    pub(super) fn is_tail_of(&self, scope: &Scope, owner: &Owner, stored: &Stored) -> bool {
        if &stored.message.session.scope != scope {
            return false;
        }
        match &stored.cell {
            None => owner.kind == OwnerKind::User && self.speaks_in(owner, &stored.message.session),
            Some(id) => self
                .cells
                .iter()
                .any(|cell| &cell.id == id && !cell.written && cell.owners.contains(owner)),
        }
    }

    fn open(&self) -> Buffered {
        let counts = self.sessions.iter().map(|session| self.buffered(session).count());
        counts
            .filter(|count| *count > 0)
            .fold(Buffered::default(), |sum, count| Buffered {
                sessions: sum.sessions + 1,
                messages: sum.messages + count,
            })
    }
}

/// Sorted by time. The stored order is that of arrival, and the sort is stable.
fn by_time<'a>(stored: impl Iterator<Item = &'a Stored>) -> Vec<Message> {
    let mut messages: Vec<Message> = stored.map(|m| m.message.clone()).collect();
    messages.sort_by_key(|m| m.time);
    messages
}

fn check_session(session: &SessionKey, messages: &[NewMessage]) {
    let is_own = messages.iter().all(|new| &new.message.session == session);
    assert!(is_own, "a message names another session");
}

fn check_cut(cut: &Cut) {
    for cell in &cut.cells {
        assert_eq!(cell.session, cut.session, "a memcell of another session");
        assert!(!cell.messages.is_empty(), "an empty memcell");
        assert!(
            cell.messages.is_sorted_by_key(|m| m.time),
            "a memcell's messages are not in order of time"
        );
        let writers = cut
            .jobs
            .iter()
            .filter(|job| job.kind == JobKind::WriteCell && job.subject == cell.id.as_str());
        assert_eq!(
            writers.count(),
            1,
            "a memcell commits with exactly one job that writes it"
        );
    }
    let is_own = cut.jobs.iter().all(|job| job.session == cut.session);
    assert!(is_own, "a cut queues a job of another session");
}

#[async_trait]
impl Transcripts for MemoryLedger {
    async fn append(
        &self,
        session: &SessionKey,
        messages: Vec<NewMessage>,
        now: Timestamp,
    ) -> Result<AppendOutcome, LedgerError> {
        check_session(session, &messages);
        self.call(|state| state.accept_all(session, messages, now))
    }

    async fn append_and_cut(
        &self,
        messages: Vec<NewMessage>,
        with: CutWithAppend,
        now: Timestamp,
    ) -> Result<AppendOutcome, LedgerError> {
        check_cut(&with.cut);
        let session = with.cut.session.clone();
        check_session(&session, &messages);
        self.call(|state| {
            let before = state.buffered(&session).count();
            let mut outcome = state.accept_all(&session, messages, now)?;
            let is_new = outcome.accepted.iter().all(|accepted| !accepted.duplicate);
            if is_new && before == with.buffered_before {
                outcome.is_cut = state.take(with.cut).is_ok();
            }
            Ok(outcome)
        })
    }

    async fn entitle(
        &self,
        session: &SessionKey,
        title: String,
        accept_forgotten: bool,
    ) -> Result<(), LedgerError> {
        self.call(|state| {
            if accept_forgotten {
                state.forgotten.remove(&digest(session, None));
            }
            if title.is_empty() {
                state.untitle(session);
            } else if !state.forgotten.contains(&digest(session, None)) {
                state.titles.insert(session.clone(), title);
            }
            Ok(())
        })
    }

    async fn title(&self, session: &SessionKey) -> Result<Option<String>, LedgerError> {
        self.call(|state| Ok(state.titles.get(session).cloned()))
    }

    async fn buffer(&self, session: &SessionKey) -> Result<Vec<Message>, LedgerError> {
        self.call(|state| Ok(by_time(state.buffered(session))))
    }

    async fn cut(&self, cut: Cut) -> Result<(), LedgerError> {
        check_cut(&cut);
        self.call(|state| state.take(cut))
    }

    async fn cell(&self, id: &CellId) -> Result<Option<Cell>, LedgerError> {
        self.call(|state| {
            let cell = state.cells.iter().find(|cell| &cell.id == id);
            Ok(cell.map(|cell| state.cell_of(cell)))
        })
    }

    async fn cells(&self, ids: &[CellId]) -> Result<Vec<Cell>, LedgerError> {
        self.call(|state| {
            let stored = ids
                .iter()
                .filter_map(|id| state.cells.iter().find(|cell| &cell.id == id));
            Ok(stored.map(|cell| state.cell_of(cell)).collect())
        })
    }

    async fn unwritten_after(&self, id: &CellId) -> Result<Vec<CellId>, LedgerError> {
        self.call(|state| {
            let mut after = state.cells.iter().skip_while(|cell| &cell.id != id);
            let session = after.next().map(|cell| &cell.session);
            let unwritten = after.filter(|cell| Some(&cell.session) == session && !cell.written);
            Ok(unwritten.map(|cell| cell.id.clone()).collect())
        })
    }

    async fn tail(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Message>, LedgerError> {
        self.call(|state| {
            let tail = state
                .messages
                .iter()
                .filter(|m| state.is_tail_of(scope, owner, m));
            Ok(by_time(tail))
        })
    }

    async fn messages(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Message>, LedgerError> {
        self.call(|state| {
            let found = state
                .messages
                .iter()
                .filter(|m| &m.message.session.scope == scope && ids.contains(&m.message.id));
            Ok(by_time(found))
        })
    }

    async fn waiting(&self) -> Result<BTreeMap<(Scope, Owner), usize>, LedgerError> {
        self.call(|state| Ok(state.waiting()))
    }

    async fn carried(&self, scope: &Scope, ids: &[MessageId]) -> Result<Carried, LedgerError> {
        self.call(|state| Ok(state.carried(scope, ids)))
    }

    async fn adopt(
        &self,
        scope: &Scope,
        cells: Vec<WrittenCell>,
        forgotten: BTreeSet<String>,
    ) -> Result<(), LedgerError> {
        self.call(|state| {
            state.adopt(scope, cells, forgotten);
            Ok(())
        })
    }

    async fn buffered(&self) -> Result<Buffered, LedgerError> {
        self.call(|state| Ok(state.open()))
    }

    async fn open_sessions(&self, limit: usize) -> Result<Vec<(SessionKey, Timestamp)>, LedgerError> {
        self.call(|state| {
            let is_open = |session: &&SessionKey| state.buffered(session).next().is_some();
            let open = state.sessions.iter().filter(is_open);
            let mut open: Vec<_> = open.map(|key| (key.clone(), state.touched[key])).collect();
            open.sort_by_key(|(_, touched)| *touched);
            open.truncate(limit);
            Ok(open)
        })
    }

    async fn sweep(&self, sweep: Sweep) -> Result<Forgotten, LedgerError> {
        self.call(|state| {
            let forgotten = state.sweep(sweep);
            if forgotten.messages > 0 {
                state.copies.clear();
            }
            Ok(forgotten)
        })
    }
}
