//! Data that an export carries from one ledger to another, in memory.
//!
//! Owns: the meaning of `Transcripts::carried` and `Transcripts::adopt`. Never: files.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use model::{CutReason, MessageId, Owner, OwnerKind, Scope, SessionKey};
use ports::{Carried, WrittenCell};

use super::{State, Stored, StoredCell, sweep::speaker};

/// A digest of a deleted client id, or of the deleted title of a session.
pub(super) fn digest(session: &SessionKey, client_id: Option<&str>) -> (Scope, String) {
    let mut hasher = DefaultHasher::new();
    (session.session.as_str(), client_id).hash(&mut hasher);
    (session.scope.clone(), format!("{:064x}", hasher.finish()))
}

impl State {
    pub(super) fn is_forgotten(&self, session: &SessionKey, client_id: Option<&str>) -> bool {
        client_id.is_some() && self.forgotten.contains(&digest(session, client_id))
    }

    pub(super) fn waiting(&self) -> BTreeMap<(Scope, Owner), usize> {
        let scopes = self.sessions.iter().map(|session| &session.scope);
        let scopes: BTreeSet<&Scope> = scopes.collect();
        let speakers = self.messages.iter().map(|m| speaker(&m.message));
        let owners = self.cells.iter().flat_map(|cell| cell.owners.clone());
        let users: BTreeSet<Owner> = speakers
            .chain(owners)
            .filter(|owner| owner.kind == OwnerKind::User)
            .collect();
        let mut waiting = BTreeMap::new();
        for scope in scopes {
            for user in &users {
                let tail = self.messages.iter().filter(|m| self.is_tail_of(scope, user, m));
                waiting.insert((scope.clone(), user.clone()), tail.count());
            }
        }
        waiting.retain(|_, count| *count > 0);
        waiting
    }

    pub(super) fn carried(&self, scope: &Scope, ids: &[MessageId]) -> Carried {
        let asked = self
            .messages
            .iter()
            .filter(|m| m.message.session.scope == *scope && ids.contains(&m.message.id));
        let client_ids = asked.filter_map(|m| Some((m.message.id.clone(), m.client_id.clone()?)));
        let forgotten = self.forgotten.iter().filter(|(of, _)| of == scope);
        Carried {
            client_ids: client_ids.collect(),
            forgotten: forgotten.map(|(_, digest)| digest.clone()).collect(),
        }
    }

    pub(super) fn adopt(&mut self, scope: &Scope, cells: Vec<WrittenCell>, forgotten: BTreeSet<String>) {
        for cell in cells {
            self.adopt_cell(cell);
        }
        let forgotten = forgotten.into_iter().map(|digest| (scope.clone(), digest));
        self.forgotten.extend(forgotten);
    }

    fn adopt_cell(&mut self, cell: WrittenCell) {
        let at = self.cells.iter().position(|there| there.id == cell.id);
        if at.is_some_and(|at| self.cells[at].session != cell.session) {
            return;
        }
        for new in cell.messages {
            let is_there = self.messages.iter().any(|m| {
                let is_known = new.client_id.is_some() && m.client_id == new.client_id;
                (m.message.session.scope == cell.session.scope && m.message.id == new.message.id)
                    || (m.message.session == cell.session && is_known)
            });
            if !is_there {
                self.messages.push(Stored {
                    message: new.message,
                    client_id: new.client_id,
                    repeat_key: None,
                    cell: Some(cell.id.clone()),
                });
            }
        }
        match at {
            Some(at) if self.cells[at].owners.contains(&cell.owner) => {}
            Some(at) => self.cells[at].owners.push(cell.owner),
            None if self.messages.iter().any(|m| m.cell.as_ref() == Some(&cell.id)) => {
                if !self.sessions.contains(&cell.session) {
                    self.sessions.push(cell.session.clone());
                }
                self.cells.push(StoredCell {
                    id: cell.id,
                    session: cell.session,
                    owners: vec![cell.owner],
                    reason: CutReason::Flush,
                    written: true,
                });
            }
            None => {}
        }
    }
}
