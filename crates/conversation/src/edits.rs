//! A view as edits of the list that the client sends.
//!
//! Owns: which messages of the list are replaced, and by what, so that the model sees exactly the view. Never: choosing a view.

use std::sync::Arc;

use context::ranges;
use context::session::{Piece, What};
use prefix::shadow::Edit;
use transcript::Item;
use transcript::dialect;

use crate::conversation::Conversation;

/// What becomes of a message of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Kept,
    Gone,
    Replaced(Vec<String>),
}

/// The list, place by place.
struct Places {
    fates: Vec<Fate>,
    /// What is sent before a place; the last stands at the end.
    before: Vec<Vec<String>>,
}

impl Conversation {
    /// The edits that show the conversation's own view.
    pub fn edits(&self) -> Vec<Edit> {
        let shown: Vec<_> = self
            .session
            .frontier()
            .iter()
            .map(|piece| Arc::clone(&piece.item))
            .collect();
        self.edits_for(&shown)
    }

    /// The edits that show this view: items of the conversation in their order, and others between them.
    pub(crate) fn edits_for(&self, view: &[Arc<Item>]) -> Vec<Edit> {
        let pieces = self.session.frontier();
        let mut places = Places {
            fates: vec![Fate::Gone; self.ids.len()],
            before: vec![Vec::new(); self.ids.len() + 1],
        };
        let mut next = 0;
        for item in view {
            let is_it = |piece: &Piece| Arc::ptr_eq(&piece.item, item) || piece.item == *item;
            match pieces[next..].iter().position(is_it) {
                Some(at) => {
                    self.show(&mut places, &pieces[next + at]);
                    next += at + 1;
                }
                None => places.before[self.place_of(&pieces[next..])].extend(self.written(item)),
            }
        }
        places.edits()
    }

    /// One piece of the conversation's own view.
    fn show(&self, places: &mut Places, piece: &Piece) {
        match &piece.what {
            What::Item { id, masked } => {
                let Some(at) = self.place(*id) else { return };
                places.fates[at] = if *masked {
                    Fate::Replaced(self.written(&piece.item))
                } else {
                    Fate::Kept
                };
            }
            What::Node(_) => {
                places.before[self.place_of(std::slice::from_ref(piece))].extend(self.written(&piece.item));
            }
        }
    }

    /// The place in the list at which these pieces begin; its end where none of them stands in the list.
    fn place_of(&self, pieces: &[Piece]) -> usize {
        let covered = |piece: &Piece| match &piece.what {
            What::Item { id, .. } => self.place(*id),
            What::Node(node) => {
                let stands_for =
                    |id: &_| ranges::contains(&node.covers, *id) && !self.session.shows_original(*id);
                // The client left out what it stands for: the summary stays, before all that is left.
                self.ids.iter().position(stands_for).or(Some(0))
            }
        };
        pieces.iter().find_map(covered).unwrap_or(self.ids.len())
    }

    fn written(&self, item: &Item) -> Vec<String> {
        if item.blocks.is_empty() {
            return Vec::new();
        }
        dialect::write(self.dialect, std::slice::from_ref(item))
    }
}

impl Places {
    /// One edit for each stretch that is gone, and one for each message that is replaced.
    fn edits(self) -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        let mut gone: Option<Edit> = None;
        let fates = self.fates.into_iter().chain([Fate::Kept]);
        for (at, (before, fate)) in self.before.into_iter().zip(fates).enumerate() {
            if fate == Fate::Gone {
                let edit = gone.get_or_insert_with(|| Edit {
                    range: at..at,
                    messages: Vec::new(),
                });
                edit.messages.extend(before);
                edit.range.end = at + 1;
                continue;
            }
            let inserted = match &mut gone {
                Some(edit) => {
                    edit.messages.extend(before);
                    Vec::new()
                }
                None => before,
            };
            edits.extend(gone.take());
            match fate {
                Fate::Replaced(messages) => edits.push(Edit {
                    range: at..at + 1,
                    messages: inserted.into_iter().chain(messages).collect(),
                }),
                _ if !inserted.is_empty() => edits.push(Edit {
                    range: at..at,
                    messages: inserted,
                }),
                _ => {}
            }
        }
        edits
    }
}
