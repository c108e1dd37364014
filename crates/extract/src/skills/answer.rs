//! The check of a model's text for an agent's memory: it must not tell the agent to do anything
//! that the agent never did.
//!
//! Owns: which commands and addresses an answer may name, and the share of its words that must be
//! known. Never: repairing JSON (`extract`).

use serde_json::Value;

use crate::claim::KnownWords;
use crate::sentence::sentences;
use crate::skills::cluster::KnownCase;
use crate::skills::trajectory::Trajectory;

/// Words for the result of a step, allowed in every answer.
const OUTCOMES: &str = "failed worked";

/// Why an answer cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillAnswerProblem {
    /// There is no JSON in it, even after repair.
    #[error("the answer is not a JSON object")]
    NotJson,
    /// A field is missing or has an invalid value.
    #[error("the answer does not follow the schema: {0}")]
    Shape(String),
    /// It names a command, a file or an address that occurs in no call.
    #[error("the answer names `{what}`, which the agent never called")]
    Foreign { what: String },
    /// Its words do not come from the work.
    #[error("the answer contains statements that the agent's work does not support")]
    Unsupported,
}

/// Allowed contents of an answer.
pub(crate) struct Evidence {
    text: String,
    known: KnownWords,
}

impl Evidence {
    fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let text = texts.collect::<Vec<_>>().join("\n");
        Self {
            known: KnownWords::of(&text),
            text,
        }
    }

    /// From the agent's own calls and people's messages, without text of a tool.
    pub(crate) fn of_work(work: &Trajectory) -> Self {
        let calls = work
            .calls()
            .flat_map(|call| [call.tool.as_str(), call.target.as_str()]);
        Self::new(
            calls
                .chain([work.request.as_str(), OUTCOMES])
                .chain(work.said.iter().map(String::as_str)),
        )
    }

    /// From cases, without their quotations of tools.
    pub(crate) fn of_cases(cases: &[&KnownCase]) -> Self {
        let texts: Vec<String> = cases
            .iter()
            .flat_map(|case| {
                let steps = case.approach.lines().map(|line| unquoted(line).to_owned());
                let tools = case.tools.iter().cloned();
                steps
                    .chain(tools)
                    .chain([case.intent.clone(), case.insight.clone(), OUTCOMES.to_owned()])
            })
            .collect();
        Self::new(texts.iter().map(String::as_str))
    }

    /// The lines of a text (for a single line: its sentences) that consist of known actions and
    /// words, and its headings. Refuses foreign commands and addresses, and a text without any line
    /// left.
    pub(crate) fn kept(&self, told: &str) -> Result<String, SkillAnswerProblem> {
        for quoted in told.split('`').skip(1).step_by(2) {
            if !self.text.contains(quoted.trim()) {
                return Err(SkillAnswerProblem::Foreign {
                    what: quoted.chars().take(60).collect(),
                });
            }
        }
        let is_address = |word: &&str| word.contains("://") || word.starts_with("www.");
        let bare = |word: &'_ str| {
            word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/')
                .to_owned()
        };
        if let Some(what) = told
            .split_whitespace()
            .filter(is_address)
            .map(bare)
            .find(|url| !self.text.contains(url))
        {
            return Err(SkillAnswerProblem::Foreign { what });
        }
        let is_mark = |c: char| c.is_ascii_digit() || ". -*".contains(c);
        let says = |line: &&str| self.known.unsaid(line.trim_start_matches(is_mark)).is_none();
        let lines: Vec<&str> = told.lines().collect();
        let (pieces, joint) = match lines.len() {
            1 => (sentences(told), " "),
            _ => (lines, "\n"),
        };
        let kept = pieces
            .into_iter()
            .filter(|line| line.starts_with('#') || says(line));
        let kept: Vec<&str> = kept.collect();
        let is_told = kept.iter().any(|line| !line.starts_with('#') && !line.is_empty());
        is_told
            .then(|| kept.join(joint))
            .ok_or(SkillAnswerProblem::Unsupported)
    }
}

/// A step without its quotation of a failure.
pub(crate) fn unquoted(step: &str) -> &str {
    step.split_once(": failed").map_or(step, |(step, _)| step)
}

/// A field that must be a text that is not empty.
pub(crate) fn text(value: &Value, key: &str) -> Result<String, SkillAnswerProblem> {
    let lines = |list: &Vec<Value>| {
        let lines: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
        lines.join("\n")
    };
    let text = match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(list)) => lines(list),
        _ => String::new(),
    };
    if text.trim().is_empty() {
        let reason = format!("`{key}` must be a text");
        return Err(SkillAnswerProblem::Shape(reason));
    }
    Ok(text)
}

/// A share from 0 to 1 or from 0 to 100, in percent.
pub(crate) fn percent(value: &Value, key: &str) -> Option<u8> {
    let number = value.get(key)?.as_f64()?;
    let percent = if number <= 1.0 { number * 100.0 } else { number };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 0 and 100"
    )]
    let percent = percent.clamp(0.0, 100.0).round() as u8;
    Some(percent)
}
