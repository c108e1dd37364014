//! Agent skills: cases of an agent's work with tools, and skills that a chat model makes from them.
//!
//! Owns: which work becomes a case, its account by rules, and the prompts and answers of a chat
//! model. Never: I/O, a clock, a model call, a skill by rules, or an instruction taken from a
//! tool's output.
//!
//! Evidence is an agent's own calls and people's messages. Text of tools and pages is data: it is
//! quoted for a failed call, and used nowhere else.
//!
//! Reading order: [`trajectory`] (calls and results), [`case`](mod@case) (one piece of work),
//! [`cluster`] (work of one kind), `skill` (common parts of such work), `answer` (a model's text
//! for either, checked).

mod answer;
pub mod case;
pub mod cluster;
mod skill;
#[cfg(test)]
mod tests;
pub mod trajectory;

use std::borrow::Cow;

use crate::words::{cut, one_line};
use model::redact::redact;
use model::text::Fnv;

pub use answer::SkillAnswerProblem;
pub use case::{Case, case, case_request, parse_case};
pub use cluster::{Cluster, KnownCase, clusters};
pub use skill::{KnownSkill, Skill, mark, parse_skill, skill_request, unsupported};
pub use trajectory::{AgentCall, Trajectory, trajectories};

/// Author of cases made by rules.
pub const RULES_VERSION: &str = "practice/1";

/// A text on one line, without secrets and without characters that open a mark, a quotation or a
/// command.
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

/// A text of several lines without secrets and marks; consecutive blank lines become one.
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
    model::head(&text, chars_max).trim_end().to_owned()
}

/// A hash for ids and marks, the same in every process.
pub(crate) fn hash<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hash = Fnv::default();
    texts.into_iter().for_each(|text| hash.text(text));
    hash.value()
}
