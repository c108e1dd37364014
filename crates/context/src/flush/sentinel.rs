//! Keeping `NO_REPLY` from people.
//!
//! Owns: what counts as the sentinel and a filter for a stream of any pieces. Never: what the sentinel means for a flush.

/// A model says so when it has nothing to say.
const SENTINEL: &str = "NO_REPLY";
/// After the sentinel, so many characters are still a remark about having nothing to say.
const REMARK_CHARS_MAX: usize = 300;
/// A longer run of blanks and quotes is the reply itself.
const OPENING_BYTES_MAX: usize = 256;

fn is_wrapping(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '"' | '\''
                | '`'
                | '*'
                | '_'
                | '<'
                | '['
                | '('
                | '{'
                | '“'
                | '„'
                | '‘'
                | '«'
                | '「'
                | '\u{feff}'
                | '\u{200b}'
        )
}

/// What follows the sentinel at the beginning of a text, behind any blanks, quotes or emphasis; nothing if it does not
/// begin so.
pub(super) fn strip_sentinel(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(is_wrapping);
    let head = text.get(..SENTINEL.len())?;
    let rest = &text[SENTINEL.len()..];
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric());
    (head.eq_ignore_ascii_case(SENTINEL) && ends).then(|| rest.trim_start_matches(is_closing))
}

fn is_closing(c: char) -> bool {
    is_wrapping(c)
        || matches!(
            c,
            '.' | ',' | ':' | ';' | '!' | '>' | ']' | ')' | '}' | '”' | '’' | '»' | '」'
        )
}

/// Lets a streamed text through but for the sentinel, in any case and however it is cut into pieces. A reply that begins
/// with it and adds no more than a short remark is nothing at all. It holds back only what may yet become the sentinel.
#[derive(Debug, Clone, Default)]
pub struct SentinelFilter {
    state: State,
    held: String,
    /// What was let through ends in a character that a later one could join.
    joins: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Nothing but blanks and quotes so far.
    #[default]
    Opening,
    /// It began with the sentinel; `held` is what follows.
    Refused,
    Open,
}

impl SentinelFilter {
    /// Takes the next piece and gives what may be shown.
    pub fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for c in piece.chars() {
            self.held.push(c);
            match self.state {
                State::Opening => self.open(&mut out),
                State::Refused => self.doubt(&mut out),
                State::Open => self.pass(&mut out),
            }
        }
        out
    }

    /// The stream has ended: what was held back, unless it is part of a refusal.
    pub fn finish(mut self) -> String {
        match self.state {
            State::Refused => String::new(),
            State::Opening | State::Open => std::mem::take(&mut self.held),
        }
    }

    fn open(&mut self, out: &mut String) {
        let body = self.held.trim_start_matches(is_wrapping);
        if body.eq_ignore_ascii_case(SENTINEL) {
            self.held.clear();
            self.state = State::Refused;
        } else if !is_start(body) || self.held.len() > OPENING_BYTES_MAX {
            self.state = State::Open;
            self.release(out);
        }
    }

    /// More than a remark follows: the reply is real after all.
    fn doubt(&mut self, out: &mut String) {
        if self.held.trim_start_matches(is_closing).is_empty() {
            self.held.clear();
        } else if self.held.chars().count() > REMARK_CHARS_MAX {
            self.state = State::Open;
            self.release(out);
        }
    }

    /// Sends what was held back through the filter, from its beginning.
    fn release(&mut self, out: &mut String) {
        for c in std::mem::take(&mut self.held).chars() {
            self.held.push(c);
            self.pass(out);
        }
    }

    /// Shows as much of `held` as cannot become the sentinel.
    fn pass(&mut self, out: &mut String) {
        if self.held.eq_ignore_ascii_case(SENTINEL) {
            self.held.clear();
            // What stood on both sides must not become one word, least of all the sentinel.
            if self.joins {
                out.push(' ');
                self.joins = false;
            }
            return;
        }
        while !is_start(&self.held) {
            let Some(c) = self.held.chars().next() else { break };
            self.held.drain(..c.len_utf8());
            out.push(c);
            self.joins = !c.is_whitespace();
        }
    }
}

/// The sentinel may begin so.
fn is_start(text: &str) -> bool {
    SENTINEL
        .get(..text.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(text))
}
