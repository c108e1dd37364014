//! What an agent did with its tools, told so that it can be done again: cases, and skills made of them.
//!
//! Owns: which work is worth telling, its telling by rules, and the prompts and answers of a chat model. Never: I/O, a
//! clock, a model call, or passing on what a tool printed as something to do.
//!
//! An agent's own calls and people's words are evidence. What tools and pages say is data: it is quoted where a call
//! failed, and stands nowhere else.
//!
//! Reading order: [`trajectory`] (what was done and how it went), [`case`](mod@case) (one piece of work), [`cluster`] (work of one
//! kind), [`skill`](mod@skill) (what such work has in common), `answer` (what a model says of either, checked).

mod answer;
pub mod case;
pub mod cluster;
pub mod skill;
#[cfg(test)]
mod tests;
pub mod trajectory;

use std::borrow::Cow;

use crate::words::{cut, one_line};
use model::redact::redact;

pub use answer::AnswerProblem;
pub use case::{Case, case, case_request, parse_case};
pub use cluster::{Cluster, KnownCase, clusters};
pub use skill::{Change, Skill, Standing, mark, parse_skill, skill, skill_request, unsupported};
pub use trajectory::{Call, Round, Trajectory, trajectories};

/// What the rules sign their memories with.
pub const RULES_VERSION: &str = "practice/1";

/// A text on one line, without secrets and without what would open a mark, a quotation or a command.
pub(crate) fn plain(text: &str, chars_max: usize) -> String {
    let line = one_line(&redact(text));
    let inert: String = line
        .chars()
        .map(|c| match c {
            '<' => '‹',
            '>' => '›',
            '`' => '\'',
            c => c,
        })
        .collect();
    cut(&inert, chars_max)
}

/// A text of several lines without secrets and marks; blank lines that follow each other are one.
pub(crate) fn paragraphs(text: &str, chars_max: usize) -> String {
    let text: Cow<'_, str> = redact(text);
    let mut out: Vec<String> = Vec::new();
    for line in text.replace('<', "‹").replace('>', "›").lines() {
        let indent = line.len() - line.trim_start().len();
        let line = format!("{}{}", " ".repeat(indent.min(8)), one_line(line));
        if !(line.trim().is_empty() && out.last().is_none_or(String::is_empty)) {
            out.push(line.trim_end().to_owned());
        }
    }
    let text = out.join("\n");
    let end = text
        .char_indices()
        .nth(chars_max)
        .map_or(text.len(), |(at, _)| at);
    text[..end].trim_end().to_owned()
}

/// FNV-1a over texts, each with its length before it: ids and marks that are the same in every process.
pub(crate) fn hash<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in texts {
        let length = (text.len() as u64).to_le_bytes();
        for byte in length.iter().chain(text.as_bytes()) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}
