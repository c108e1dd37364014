//! Changing the words around tool results and recalled memories from turn to turn, so that a model does not fall into
//! imitating one shape.
//!
//! Owns: the templates and the turn that chooses among them. Never: a text that was already written. A label is not a
//! wall: what a tool returned may contain the same words, and the role of the item is what tells a model who speaks.

/// The templates repeat after so many turns.
const CYCLE: u64 = 3;

/// Chooses the template of the current turn. A session owns its own; two sessions never share one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variator {
    turn: u64,
}

/// A text with its words around, to be stored as it is. It can only be taken out, not rendered again, so that what a
/// model saw once stays the same bytes in every later request and the provider's cache holds.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "store the text: it is never rendered a second time"]
pub struct Written(String);

impl Written {
    /// The text to store.
    pub fn into_text(self) -> String {
        self.0
    }
}

impl Variator {
    /// The variator of a session that is resumed at `turn`, counted from 0.
    pub fn at(turn: u64) -> Self {
        Self { turn }
    }

    /// The turn, counted from 0.
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// The next turn begins: another template from now on.
    pub fn next_turn(&mut self) {
        self.turn = self.turn.wrapping_add(1);
    }

    /// Back to turn 0.
    pub fn reset(&mut self) {
        self.turn = 0;
    }

    /// What tool `name` returned. Control characters of the name become spaces: it stays on its line.
    pub fn outcome(&self, name: &str, text: &str) -> Written {
        let name = one_line(name);
        Written(match self.turn % CYCLE {
            0 => format!("Result from {name}:\n{text}"),
            1 => format!("Output of {name}:\n---\n{text}\n---"),
            _ => format!("[{name}] returned:\n{text}"),
        })
    }

    /// What was recalled.
    pub fn memory(&self, text: &str) -> Written {
        let label = match self.turn % CYCLE {
            0 => "Relevant memory context:",
            1 => "From memory:",
            _ => "Recalled context:",
        };
        Written(format!("{label}\n{text}"))
    }
}

fn one_line(name: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    name.chars().map(|c| if breaks(c) { ' ' } else { c }).collect()
}
