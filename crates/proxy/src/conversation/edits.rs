//! A view as edits of the list that the client sends.
//!
//! Owns: which messages of the list are replaced, and by what, so that the model sees exactly the view. Never: choosing a view.

use std::sync::Arc;

use context::ranges;
use context::session::{Piece, PieceContent};
use prefix::shadow::ShadowEdit;
use transcript::Item;
use transcript::dialect;

use crate::conversation::pairs;
use crate::conversation::state::Conversation;

/// How the view treats a message of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
enum MessageFate {
    Kept,
    Gone,
    Replaced(Vec<String>),
}

/// The list, place by place.
struct Places {
    fates: Vec<MessageFate>,
    /// Pieces sent before each place; the last ones come at the end.
    before: Vec<Vec<String>>,
}

impl Conversation {
    /// The edits that show the conversation's own view between two requests.
    pub fn edits(&self) -> Vec<ShadowEdit> {
        let shown = self.session.view_items();
        let repaired = pairs::at_rest(&shown, &self.session.pending());
        self.edits_for(&repaired.unwrap_or(shown))
    }

    /// The edits that show this view: items of the conversation in their order, and others between them.
    pub(crate) fn edits_for(&self, view: &[Arc<Item>]) -> Vec<ShadowEdit> {
        let pieces = self.session.frontier();
        let mut places = Places {
            fates: vec![MessageFate::Gone; self.ids.len()],
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
            PieceContent::Item { id, masked } => {
                let Some(at) = self.place(*id) else { return };
                places.fates[at] = if *masked {
                    MessageFate::Replaced(self.written(&piece.item))
                } else {
                    MessageFate::Kept
                };
            }
            PieceContent::Node(_) => {
                places.before[self.place_of(std::slice::from_ref(piece))].extend(self.written(&piece.item));
            }
        }
    }

    /// The place in the list at which these pieces begin; its end if the list contains none of them.
    fn place_of(&self, pieces: &[Piece]) -> usize {
        let covered = |piece: &Piece| match &piece.what {
            PieceContent::Item { id, .. } => self.place(*id),
            PieceContent::Node(node) => {
                let stands_for =
                    |id: &_| ranges::contains(&node.covers, *id) && !self.session.shows_original(*id);
                // The client left out the summarised messages: the summary stays, before all remaining ones.
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
    /// One edit for each run of removed messages, and one for each replaced message.
    fn edits(self) -> Vec<ShadowEdit> {
        let nothing = |at: usize| ShadowEdit {
            range: at..at,
            messages: Vec::new(),
        };
        let (mut edits, mut open) = (Vec::new(), nothing(0));
        let fates = self.fates.into_iter().chain([MessageFate::Kept]);
        for (at, (before, fate)) in self.before.into_iter().zip(fates).enumerate() {
            open.messages.extend(before);
            if fate == MessageFate::Gone {
                open.range.end = at + 1;
                continue;
            }
            if !open.range.is_empty() {
                edits.push(std::mem::replace(&mut open, nothing(at)));
            }
            if let MessageFate::Replaced(messages) = fate {
                open.range.end = at + 1;
                open.messages.extend(messages);
            }
            if open != nothing(at) {
                edits.push(open);
            }
            open = nothing(at + 1);
        }
        edits
    }
}
