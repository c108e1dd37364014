//! The parts of an outgoing request: the frozen bytes, or the client's latest, with injected and replaced texts.
//!
//! Owns: the bytes of each part. Invariant: a request contains only `cache_control` marks that its client sets now.
//! Never: deciding replacements.

use transcript::Role;

use super::{Plan, Replay, Sent, head, neighbours};
use crate::canon;
use crate::mark;
use crate::splice;

impl Plan<'_> {
    pub(super) fn system(&self) -> Option<String> {
        let own = &self.next.head().own.text;
        let latest = head::system_field(&self.request, own);
        match self.replay {
            Replay::Latest => latest,
            Replay::Frozen => {
                let frozen = self.next.head().system.as_deref()?;
                Some(marked_as(frozen, latest.as_deref()))
            }
        }
    }

    pub(super) fn tools(&self) -> Vec<String> {
        let client = self.request.tools;
        match self.replay {
            Replay::Frozen => {
                let frozen = self.next.head().tools.iter().enumerate();
                frozen
                    .map(|(at, tool)| marked_as(tool, client.get(at).copied()))
                    .collect()
            }
            Replay::Latest => client.iter().map(|tool| (*tool).to_owned()).collect(),
        }
    }

    fn leading(&self) -> Vec<String> {
        let leading = &self.request.messages[..self.request.messages.len() - self.body.len()];
        let latest = head::messages(&self.request, leading, &self.next.head().own.text);
        match self.replay {
            Replay::Latest => latest,
            Replay::Frozen => {
                let frozen = self.next.head().messages.iter().enumerate();
                let latest = |at: usize| latest.get(at).map(String::as_str);
                frozen
                    .map(|(at, message)| marked_as(message, latest(at)))
                    .collect()
            }
        }
    }

    pub(super) fn messages(&self) -> Vec<Sent> {
        let ours = |bytes, role| Sent {
            bytes,
            role,
            index: None,
            injected: None,
        };
        let system = |bytes| ours(bytes, Some(Role::System));
        let mut messages: Vec<Sent> = self.leading().into_iter().map(system).collect();
        let mut edits = self.next.edits().iter().peekable();
        let mut index = 0;
        while index <= self.body.len() {
            if let Some(edit) = edits.next_if(|edit| edit.range.start <= index) {
                for bytes in &edit.messages {
                    let role = canon::read(bytes).role;
                    messages.push(ours(mark::without(bytes).into_owned(), role));
                }
                index = index.max(edit.range.end);
            } else {
                messages.extend(self.message(index));
                index += 1;
            }
        }
        neighbours::settled(messages)
    }

    fn message(&self, index: usize) -> Option<Sent> {
        let entry = self.next.entries().get(index)?;
        let fragment = entry.fragment.as_ref();
        let goes_as_it_is =
            |latest: &&&str| self.replay == Replay::Latest || differs_in_marks(&entry.bytes, latest);
        let latest = self.body.get(index).filter(goes_as_it_is).and_then(|latest| {
            let Some(fragment) = fragment else {
                return Some(((*latest).to_owned(), None));
            };
            let splice = splice::into_message(latest, &fragment.text)?;
            Some((
                splice.apply(latest),
                Some(splice.at..splice.at + splice.bytes.len()),
            ))
        });
        let (bytes, injected) = latest.unwrap_or_else(|| {
            let bytes = mark::without(&entry.sent()).into_owned();
            let injected = fragment.and_then(|fragment| {
                let at = bytes.rfind(&fragment.bytes)?;
                Some(at..at + fragment.bytes.len())
            });
            (bytes, injected)
        });
        Some(Sent {
            bytes,
            role: entry.meaning.role,
            index: Some(index),
            injected,
        })
    }
}

/// Whether the texts differ only in their marks.
fn differs_in_marks(frozen: &str, latest: &str) -> bool {
    (mark::is_in(frozen) || mark::is_in(latest)) && mark::without(frozen) == mark::without(latest)
}

/// The frozen text with the marks of the latest text.
fn marked_as(frozen: &str, latest: Option<&str>) -> String {
    match latest.filter(|latest| differs_in_marks(frozen, latest)) {
        Some(latest) => latest.to_owned(),
        None => mark::without(frozen).into_owned(),
    }
}
