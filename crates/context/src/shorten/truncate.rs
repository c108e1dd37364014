//! Cuts text between graphemes, with a marker that states exactly how much is missing.
//!
//! Owns: safe places inside a text, head and tail cuts. Never: choosing the text to cut.

use std::borrow::Cow;

use crate::budget::share_of;
use crate::tokens::Meter;
use unicode_segmentation::GraphemeCursor;

/// A longer grapheme is no readable letter; it may be cut between its code points.
const GRAPHEME_BYTES_MAX: usize = 128;

/// Maximum bytes of a token in normal text: a longer text is cut without counting all of it.
const TOKEN_BYTES_MAX: usize = 32;

/// The unit of a limit and of the number in a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of UTF-8.
    Bytes,
    /// UTF-16 code units: the length of a string in JavaScript.
    Utf16,
}

impl Unit {
    /// The length of a text.
    pub fn len(self, text: &str) -> usize {
        match self {
            Self::Bytes => text.len(),
            Self::Utf16 => text.encode_utf16().count(),
        }
    }

    /// The longest head of at most `units` that splits no grapheme.
    pub fn head(self, text: &str, units: usize) -> &str {
        let at = match self {
            Self::Bytes => units.min(text.len()),
            Self::Utf16 => {
                byte_of_unit(text.char_indices().map(|(at, c)| (at + c.len_utf8(), c)), units).unwrap_or(0)
            }
        };
        &text[..place(text, at, false)]
    }

    /// The longest tail of at most `units` that splits no grapheme.
    pub fn tail(self, text: &str, units: usize) -> &str {
        let at = match self {
            Self::Bytes => text.len().saturating_sub(units),
            Self::Utf16 => byte_of_unit(text.char_indices().rev(), units).unwrap_or(text.len()),
        };
        &text[place(text, at, true)..]
    }
}

/// The last place up to which the characters have at most `units` units.
fn byte_of_unit(places: impl Iterator<Item = (usize, char)>, units: usize) -> Option<usize> {
    let mut sum = 0;
    let fits = places.take_while(|(_, c)| {
        sum += c.len_utf16();
        sum <= units
    });
    fits.last().map(|(at, _)| at)
}

/// The place nearest to byte `at`, not before or not after it, that splits no grapheme.
fn place(text: &str, at: usize, is_behind: bool) -> usize {
    let at = if is_behind {
        text.ceil_char_boundary(at.min(text.len()))
    } else {
        text.floor_char_boundary(at)
    };
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    if cursor.clone().is_boundary(text, 0).unwrap_or(true) {
        return at;
    }
    let found = if is_behind {
        cursor.next_boundary(text, 0)
    } else {
        cursor.prev_boundary(text, 0)
    };
    let near = |place: &usize| place.abs_diff(at) <= GRAPHEME_BYTES_MAX;
    found.ok().flatten().filter(near).unwrap_or(at)
}

/// The mark of a cut. `{}` in the marker becomes the number of missing units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub marker: &'static str,
    pub unit: Unit,
    /// A text that exceeds its head and tail by at most this many units stays whole.
    pub slack: usize,
}

impl Style {
    /// Our own marks.
    pub(crate) const fn quipu() -> Self {
        Self {
            marker: "\n[… {} bytes removed …]\n",
            unit: Unit::Bytes,
            slack: 0,
        }
    }

    /// code-buddy's marks.
    pub const fn codebuddy() -> Self {
        Self {
            marker: "\n\n[... {} characters truncated ...]\n\n",
            unit: Unit::Utf16,
            slack: 50,
        }
    }

    fn marker(&self, missing: usize) -> String {
        self.marker.replacen("{}", &missing.to_string(), 1)
    }
}

/// At most `head` and `tail` units of the ends, with the marker between them. Kept and missing units add up to the
/// original. A text that would not become shorter stays unchanged.
pub fn head_tail<'a>(text: &'a str, head: usize, tail: usize, style: &Style) -> Cow<'a, str> {
    let unit = style.unit;
    let length = unit.len(text);
    if length <= head.saturating_add(tail).saturating_add(style.slack) {
        return Cow::Borrowed(text);
    }
    let head = unit.head(text, head);
    let tail = unit.tail(&text[head.len()..], tail);
    let missing = length - unit.len(head) - unit.len(tail);
    let cut = format!("{head}{}{tail}", style.marker(missing));
    if cut.len() < text.len() {
        Cow::Owned(cut)
    } else {
        Cow::Borrowed(text)
    }
}

/// The text within `tokens_max`: whole if it fits, else three fifths of the room for its head and the rest for its
/// tail. If not even the marker fits, the head is cut to the limit.
pub fn to_tokens(text: &str, tokens_max: usize, meter: &Meter) -> String {
    cut_to_tokens(text, tokens_max, 0.6, meter)
}

/// Like [`to_tokens`], with a given share for the head.
pub(crate) fn cut_to_tokens(text: &str, tokens_max: usize, head_share: f64, meter: &Meter) -> String {
    let most = tokens_max.saturating_mul(TOKEN_BYTES_MAX);
    if tokens_max == 0 || text.is_empty() {
        return String::new();
    }
    if text.len() <= most && meter.text(text) <= tokens_max {
        return text.to_owned();
    }
    let with_marker = |room: usize| {
        let head = share_of(room, head_share).min(room);
        head_tail(text, head, room - head, &Style::quipu()).into_owned()
    };
    let most = most.min(text.len());
    let plain = |room: usize| Unit::Bytes.head(text, room).to_owned();
    fit(most, tokens_max, meter, with_marker)
        .or_else(|| fit(most, tokens_max, meter, plain))
        .unwrap_or_default()
}

/// The candidate with the most room, up to `room_max`, that has at most `tokens_max` tokens; none if even the smallest
/// exceeds them. Candidates must grow with their room.
pub(crate) fn fit(
    room_max: usize,
    tokens_max: usize,
    meter: &Meter,
    candidate: impl Fn(usize) -> String,
) -> Option<String> {
    let mut best = None;
    let (mut low, mut high) = (0, room_max.saturating_add(1));
    while low < high {
        // Text has about four bytes a token: the first guess is near, so that the counted text stays short.
        let middle = if best.is_none() && high > room_max {
            low.max(high.min(tokens_max * 4))
        } else {
            usize::midpoint(low, high)
        };
        let middle = middle.clamp(low, high - 1);
        let text = candidate(middle);
        if meter.text(&text) <= tokens_max {
            best = Some(text);
            low = middle + 1;
        } else {
            high = middle;
        }
        if high - low <= tokens_max.min(16) && best.is_some() {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests;
