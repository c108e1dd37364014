//! A person's own questions, each with the words of its answer.
//!
//! Owns: their file. Never: a line of it in an error, only the line's number.

use std::path::Path;

use anyhow::{Context, anyhow, bail, ensure};
use serde::Deserialize;

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) text: String,
    /// Words of a right answer, as [`crate::turn::sets::stands`] reads them; none if memory knows nothing of
    /// it.
    pub(super) answer: Option<String>,
    /// Words of an answer that was right earlier.
    pub(super) overtaken: Option<String>,
}

/// A line of JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonLine {
    question: String,
    /// Empty if memory knows nothing. Required, so that a forgotten answer is an error.
    answer: String,
    #[serde(default)]
    overtaken: String,
}

/// Reads a file of questions.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Question>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    questions(&text).map_err(|error| anyhow!("`{}`, {error:#}", path.display()))
}

/// Reads one question a line: fields between tabs, or a JSON object. Skips empty lines.
pub(super) fn questions(text: &str) -> anyhow::Result<Vec<Question>> {
    let mut questions = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end_matches('\r');
        if !line.trim().is_empty() {
            questions.push(question(line).with_context(|| format!("line {number}"))?);
        }
    }
    ensure!(!questions.is_empty(), "the file has no question");
    Ok(questions)
}

fn question(line: &str) -> anyhow::Result<Question> {
    let [text, answer, overtaken] = if line.trim_start().starts_with('{') {
        of_json(line)?
    } else {
        of_tabs(line)?
    };
    let question = Question {
        text: text.trim().to_owned(),
        answer: answer_words(&answer)?,
        overtaken: answer_words(&overtaken)?,
    };
    ensure!(!question.text.is_empty(), "the question is empty");
    ensure!(
        question.overtaken.is_none() || question.answer.is_some(),
        "words were overtaken, and no words of the answer stand before them"
    );
    Ok(question)
}

/// Reads a line of JSON. The parser's own error would quote the line.
fn of_json(line: &str) -> anyhow::Result<[String; 3]> {
    match serde_json::from_str::<JsonLine>(line) {
        Ok(JsonLine {
            question,
            answer,
            overtaken,
        }) => Ok([question, answer, overtaken]),
        Err(error) => bail!(
            "not a JSON object with `question`, `answer` and `overtaken` as texts (column {})",
            error.column()
        ),
    }
}

fn of_tabs(line: &str) -> anyhow::Result<[String; 3]> {
    let fields: Vec<&str> = line.split('\t').collect();
    match fields[..] {
        [text, answer] => Ok([text, answer, ""].map(str::to_owned)),
        [text, answer, overtaken] => Ok([text, answer, overtaken].map(str::to_owned)),
        _ => bail!(
            "it has {} tabs: write the question, a tab, the words of the answer, and a tab and words that were overtaken if there are any",
            fields.len() - 1
        ),
    }
}

/// The words of a field. An empty word is refused, since every text contains it.
fn answer_words(field: &str) -> anyhow::Result<Option<String>> {
    let field = field.trim();
    if field.is_empty() {
        return Ok(None);
    }
    let is_whole = field.split([',', '/']).all(|word| !word.trim().is_empty());
    ensure!(is_whole, "a comma or slash has no word beside it");
    Ok(Some(field.to_owned()))
}
