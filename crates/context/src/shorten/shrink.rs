//! Down to a target: strategies from the gentlest to the hardest, the first that reaches it.
//!
//! Owns: the strategies, their order, the claims about the result. Never: a result larger than its source, a moving
//! target.

use std::borrow::Cow;

use crate::digest::cues::{self, Cue};
use crate::digest::{excerpt, names};
use crate::shorten::truncate::{self, Unit};
use crate::tokens::Meter;

::text::worded! {
    /// One way to make a text smaller; declared from the gentlest to the hardest.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ShrinkStrategy {
        /// It fits as it is.
        None = "none",
        /// Blank and repeated lines are removed; a repetition becomes a number.
        Squeeze = "squeeze",
        /// Head and tail, seven tenths and three.
        RemoveMiddle = "remove-middle",
        /// The sentences that matter most, in their order.
        ExtractKey = "extract-key",
        /// The head alone.
        AggressiveTruncate = "aggressive-truncate",
    }
}

/// Tried in this order; the first that reaches the target wins, the last one's result is cut if none does.
const LADDER: [ShrinkStrategy; 4] = [
    ShrinkStrategy::Squeeze,
    ShrinkStrategy::RemoveMiddle,
    ShrinkStrategy::ExtractKey,
    ShrinkStrategy::AggressiveTruncate,
];
/// Cutting out the middle is not tried if less than this share of the text would remain.
const MIDDLE_SHARE_MIN: f64 = 0.5;
/// Ends a text that lost its rest.
const NOTICE: &str = "\n[… content truncated]";

/// Result of the shortening.
#[derive(Debug, Clone, PartialEq)]
pub struct Shrunk {
    pub text: String,
    /// The strategy that made it.
    pub strategy: ShrinkStrategy,
    pub tokens_before: usize,
    pub tokens_after: usize,
}

impl Shrunk {
    /// A text as it is.
    fn whole(text: &str, tokens: usize) -> Self {
        Self {
            text: text.to_owned(),
            strategy: ShrinkStrategy::None,
            tokens_before: tokens,
            tokens_after: tokens,
        }
    }
}

/// A text within `tokens_max` by our ladder.
pub(crate) fn to_target(text: &str, tokens_max: usize, meter: &Meter) -> String {
    ladder(text, tokens_max, meter).text
}

/// A text within `tokens_max`: whole if it fits, else by the first strategy that reaches the target. The result never weighs
/// more than the target, and is blank only where no grapheme fits.
pub fn ladder(text: &str, tokens_max: usize, meter: &Meter) -> Shrunk {
    let tokens_before = meter.text(text);
    if tokens_before <= tokens_max {
        return Shrunk::whole(text, tokens_before);
    }
    let mut last = None;
    for strategy in LADDER {
        let cuts_middle = strategy == ShrinkStrategy::RemoveMiddle;
        if cuts_middle && (tokens_max as f64) < tokens_before as f64 * MIDDLE_SHARE_MIN {
            continue;
        }
        let shrunk = apply(text, strategy, tokens_max, meter);
        if shrunk.tokens_after <= tokens_max && !shrunk.text.trim().is_empty() {
            return shrunk;
        }
        last = Some(shrunk);
    }
    let text = truncate::to_tokens(
        last.as_ref().map_or(text, |shrunk| &shrunk.text),
        tokens_max,
        meter,
    );
    let tokens_after = meter.text(&text);
    Shrunk {
        text,
        strategy: ShrinkStrategy::AggressiveTruncate,
        tokens_before,
        tokens_after,
    }
}

/// One strategy alone. The result never weighs more than the text; whether it reaches the target is for the caller to see.
fn apply(text: &str, strategy: ShrinkStrategy, tokens_max: usize, meter: &Meter) -> Shrunk {
    let tokens_before = meter.text(text);
    let (candidate, made_by) = match strategy {
        ShrinkStrategy::None => (Cow::Borrowed(text), strategy),
        ShrinkStrategy::Squeeze => (Cow::Owned(squeeze(text)), strategy),
        ShrinkStrategy::RemoveMiddle => (
            Cow::Owned(truncate::cut_to_tokens(text, tokens_max, 0.7, meter)),
            strategy,
        ),
        ShrinkStrategy::ExtractKey => match key(text, tokens_max, meter) {
            Some(key) => (Cow::Owned(key), strategy),
            None => (
                Cow::Owned(hard(text, tokens_max, meter)),
                ShrinkStrategy::AggressiveTruncate,
            ),
        },
        ShrinkStrategy::AggressiveTruncate => (Cow::Owned(hard(text, tokens_max, meter)), strategy),
    };
    let tokens_after = meter.text(&candidate);
    if tokens_after > tokens_before {
        return Shrunk::whole(text, tokens_before);
    }
    Shrunk {
        text: candidate.into_owned(),
        strategy: made_by,
        tokens_before,
        tokens_after,
    }
}

/// Without repeated blank lines and without white space at the ends of lines; equal neighbouring lines become one.
fn squeeze(text: &str) -> String {
    let mut lines: Vec<(&str, usize)> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        match lines.last_mut() {
            Some((last, times)) if *last == line => *times += 1,
            _ => lines.push((line, 1)),
        }
    }
    let told = lines.into_iter().map(|(line, times)| match times {
        1 => line.to_owned(),
        _ if line.is_empty() => String::new(),
        _ => format!("{line} [{times} times]"),
    });
    told.collect::<Vec<String>>().join("\n")
}

/// The sentences of most worth that fit, in their order; none if no sentence is of worth or fits.
fn key(text: &str, tokens_max: usize, meter: &Meter) -> Option<String> {
    let ranges = excerpt::sentences(text).into_iter();
    let weighed = ranges.map(|range| (&text[range.clone()], worth(&text[range])));
    let sentences: Vec<(&str, usize)> = weighed.filter(|(_, worth)| *worth > 0).collect();
    let mut order: Vec<usize> = (0..sentences.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(sentences[index].1));
    let mut room = tokens_max;
    let mut kept = Vec::new();
    for index in order {
        let cost = meter.text(sentences[index].0) + 1;
        if cost <= room {
            room -= cost;
            kept.push(index);
        }
        if room < 4 {
            break;
        }
    }
    kept.sort_unstable();
    while !kept.is_empty() {
        let texts: Vec<&str> = kept.iter().map(|&index| sentences[index].0).collect();
        let joined = texts.join("\n");
        if meter.text(&joined) <= tokens_max {
            return Some(joined);
        }
        kept.pop();
    }
    None
}

/// By what a sentence is for, its names, and its shape.
fn worth(sentence: &str) -> usize {
    let said = |cue, worth| worth * usize::from(cues::has(cue, sentence));
    let rule = 3 * usize::from(!cues::rules(sentence).is_empty());
    let names = 2 * names::names(sentence).len().min(4);
    let marks = usize::from(sentence.contains(['`', '?', '？']));
    said(Cue::Decision, 4) + said(Cue::Trouble, 3) + said(Cue::Open, 3) + rule + names + marks
}

fn hard(text: &str, tokens_max: usize, meter: &Meter) -> String {
    let bytes = text.len().min(tokens_max.saturating_mul(32));
    let noticed = |room: usize| format!("{}{NOTICE}", Unit::Bytes.head(text, room));
    let plain = |room: usize| Unit::Bytes.head(text, room).to_owned();
    let cut = truncate::fit(bytes, tokens_max, meter, noticed).filter(|cut| cut.len() > NOTICE.len());
    cut.or_else(|| truncate::fit(bytes, tokens_max, meter, plain))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
