//! Forgetting in memory: the messages to delete, and the data deleted with them.
//!
//! Owns: the meaning of each sweep. Never: files.

use std::collections::BTreeSet;

use model::{CellId, Message, MessageId, Owner, OwnerKind, Role, SessionKey};
use ports::{Forgotten, JobKind, Sweep};

use super::{State, carried::digest};

/// The owner that a message names as its sender.
pub(super) fn speaker(message: &Message) -> Owner {
    match message.role {
        Role::User => Owner::user(message.sender.clone()),
        Role::Assistant | Role::Tool => Owner::agent(message.sender.clone()),
    }
}

impl State {
    pub(super) fn sweep(&mut self, sweep: Sweep) -> Forgotten {
        let before = self.conversations.len();
        let is_counted = !matches!(sweep, Sweep::Scope(_));
        self.conversations.retain(|key, stored| match &sweep {
            Sweep::Session(session) => key != session,
            Sweep::Owner(scope, owner) => key.scope != *scope || stored.owner != *owner,
            Sweep::OwnerInSession(session, owner) => key != session || stored.owner != *owner,
            Sweep::Scope(scope) => key.scope != *scope,
            Sweep::Messages(..) => true,
        });
        let conversations = if is_counted {
            before - self.conversations.len()
        } else {
            0
        };
        self.runs.sweep(&sweep);
        self.objects.retain(|(of, whose), _| match &sweep {
            Sweep::Owner(scope, owner) => (of, whose) != (scope, owner),
            Sweep::Scope(scope) => of != scope,
            _ => true,
        });
        let swept = match sweep {
            Sweep::Session(session) => {
                self.sessions.retain(|key| *key != session);
                self.untitle(&session);
                self.jobs.retain(|stored| stored.job.session != session);
                self.erase(|m| m.session == session)
            }
            Sweep::Scope(scope) => {
                self.sessions.retain(|key| key.scope != scope);
                self.titles.retain(|key, _| key.scope != scope);
                self.jobs.retain(|stored| stored.job.session.scope != scope);
                let swept = self.erase(|m| m.session.scope == scope);
                self.forgotten.retain(|(of, _)| *of != scope);
                self.words.retain(|(of, _)| *of != scope);
                swept
            }
            Sweep::Owner(scope, owner) => {
                let gone = self.disown(&owner, |session| session.scope == scope);
                self.erase(|m| m.session.scope == scope && gone.contains(&m.id))
            }
            Sweep::OwnerInSession(session, owner) => {
                let gone = self.disown(&owner, |other| *other == session);
                self.erase(|m| m.session == session && gone.contains(&m.id))
            }
            Sweep::Messages(scope, ids) => self.erase(|m| m.session.scope == scope && ids.contains(&m.id)),
        };
        Forgotten {
            conversations,
            ..swept
        }
    }

    pub(super) fn untitle(&mut self, session: &SessionKey) {
        if self.titles.remove(session).is_some() {
            self.forgotten.insert(digest(session, None));
        }
    }

    /// Removes the owner from every memcell of some sessions, and returns the messages to delete: the owner's
    /// own, those of memcells without another owner, and buffered ones of sessions without another speaking
    /// user.
    fn disown(&mut self, owner: &Owner, concerns: impl Fn(&SessionKey) -> bool) -> BTreeSet<MessageId> {
        let mut orphans: BTreeSet<CellId> = BTreeSet::new();
        for cell in self.cells.iter_mut().filter(|cell| concerns(&cell.session)) {
            if cell.owners.contains(owner) {
                cell.owners.retain(|o| o != owner);
                if cell.owners.is_empty() {
                    orphans.insert(cell.id.clone());
                }
            }
        }
        let concerned = self.messages.iter().filter(|m| concerns(&m.message.session));
        let gone = concerned.filter(|m| {
            speaker(&m.message) == *owner
                || match &m.cell {
                    Some(cell) => orphans.contains(cell),
                    None => self.is_alone_in(owner, &m.message.session),
                }
        });
        gone.map(|m| m.message.id.clone()).collect()
    }

    /// Whether the owner is the only user who speaks there.
    fn is_alone_in(&self, owner: &Owner, session: &SessionKey) -> bool {
        let has_other = self
            .messages
            .iter()
            .filter(|m| &m.message.session == session)
            .map(|m| speaker(&m.message))
            .chain(self.answered_in(session))
            .any(|other| other.kind == OwnerKind::User && other != *owner);
        owner.kind == OwnerKind::User && !has_other && self.speaks_in(owner, session)
    }

    fn answered_in(&self, session: &SessionKey) -> impl Iterator<Item = Owner> {
        let of = self.answered.iter().filter(move |(of, _)| of == session);
        of.map(|(_, owner)| owner.clone())
    }

    /// Deletes messages, then empty memcells with their jobs and empty sessions with theirs.
    fn erase(&mut self, gone: impl Fn(&Message) -> bool) -> Forgotten {
        self.note_forgotten(&gone);
        let before = self.messages.len();
        let erased = self.messages.iter().filter(|m| gone(&m.message));
        let touched: BTreeSet<SessionKey> = erased.clone().map(|m| m.message.session.clone()).collect();
        let users = erased
            .clone()
            .map(|m| (m.message.session.clone(), speaker(&m.message)));
        let users: Vec<(SessionKey, Owner)> = users.filter(|(_, of)| of.kind == OwnerKind::User).collect();
        let named = erased.filter_map(|m| Some(digest(&m.message.session, Some(m.client_id.as_deref()?))));
        self.forgotten.extend(named);
        self.messages.retain(|m| !gone(&m.message));
        self.answered.extend(users);
        let messages = &self.messages;
        self.answered.retain(|(session, _)| {
            let mut left = messages.iter().filter(|m| m.message.session == *session);
            let is_buffered = left.clone().any(|m| m.cell.is_none());
            is_buffered && left.all(|m| speaker(&m.message).kind != OwnerKind::User)
        });

        let messages = &self.messages;
        let is_empty = |cell: &CellId| !messages.iter().any(|m| m.cell.as_ref() == Some(cell));
        let ended = |session: &SessionKey| {
            touched.contains(session) && !messages.iter().any(|m| &m.message.session == session)
        };
        let empty = self.cells.iter().map(|cell| &cell.id).filter(|id| is_empty(id));
        let mut cell_ids: Vec<CellId> = empty.cloned().collect();
        cell_ids.sort();
        self.cells.retain(|cell| !cell_ids.contains(&cell.id));
        self.sessions.retain(|session| !ended(session));
        let untitled: Vec<SessionKey> = self.titles.keys().filter(|key| ended(key)).cloned().collect();
        self.jobs.retain(|stored| {
            let writes_gone = stored.job.kind == JobKind::WriteCell
                && cell_ids.iter().any(|id| id.as_str() == stored.job.subject);
            !writes_gone && !ended(&stored.job.session)
        });
        for session in untitled {
            self.untitle(&session);
        }
        Forgotten {
            messages: before - self.messages.len(),
            cells: cell_ids.len(),
            cell_ids,
            conversations: 0,
        }
    }
}
