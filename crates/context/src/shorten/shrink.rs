//! Shrinks a text to a target: strategies from the gentlest to the hardest, the first that reaches it.
//!
//! Owns: the strategies, their order, the claims about the result. Never: a result larger than its source, a moving
//! target.

use crate::digest::cues::{self, Cue};
use crate::digest::{excerpt, names};
use crate::shorten::truncate::{self, Unit};
use crate::tokens::Meter;

/// The middle is not cut out if less than this share of the text would remain.
const MIDDLE_SHARE_MIN: f64 = 0.5;
/// End of a truncated text.
const NOTICE: &str = "\n[… content truncated]";

/// A text within `tokens_max`: whole if it fits, else the first of these that fits: without repeated lines, head and
/// tail, the sentences of the most worth, the head alone. It is blank only if no grapheme fits.
pub fn to_target(text: &str, tokens_max: usize, meter: &Meter) -> String {
    let tokens = meter.text(text);
    if tokens <= tokens_max {
        return text.to_owned();
    }
    let fits = |made: &String| meter.text(made) <= tokens_max && !made.trim().is_empty();
    let keeps_ends = tokens_max as f64 >= tokens as f64 * MIDDLE_SHARE_MIN;
    let ends = || keeps_ends.then(|| truncate::cut_to_tokens(text, tokens_max, 0.7, meter));
    (Some(squeeze(text)).filter(fits))
        .or_else(|| ends().filter(fits))
        .or_else(|| key(text, tokens_max, meter).filter(fits))
        .unwrap_or_else(|| hard(text, tokens_max, meter))
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

/// The sentences of the most worth that fit, in their order; none if no sentence has worth or fits.
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

/// The worth of a sentence by its purpose, its names, and its form.
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
