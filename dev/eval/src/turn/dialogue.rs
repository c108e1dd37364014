//! LoCoMo through a conversation turn: does the request that reaches the model contain the evidence of a
//! question?
//!
//! Owns: two ways to import a dialogue, when evidence counts as given, the table. Never: the data set's
//! format (`locomo`). Even conversations, counted from 0, are for development; odd ones are held out.

use std::collections::{BTreeMap, BTreeSet};

use model::{Message, Role};
use serde_json::{Value, json};

use super::door::{Door, InjectedText, Person, Session};
use super::{CommonArgs, Half, print_repeated, share};
use crate::cases::{Case, Question, read_text};
use crate::{DataArgs, locomo, row};

/// A message counts as given if the text contains at least this share of its words.
const CONTAINED_SHARE_MIN: f64 = 0.6;
/// Words of up to this many letters are not compared.
const SHORT_WORD: usize = 3;
const PICTURE: &str = "\n[shares a picture:";

/// How a dialogue of two people becomes the memory of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Import {
    /// The first speaker is the user, the second their assistant; no pictures.
    Assistant,
    /// Both are users; a picture is represented by its caption.
    Users,
}

/// One row of the table: the import, the speakers who count as evidence, the categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Protocol {
    import: Import,
    /// Only the first speaker's messages are evidence.
    users_only: bool,
    /// Open-domain questions (category 3) need a conclusion more than a message, so they have a row of their
    /// own.
    open_domain: bool,
}

/// Imports, asks and prints.
pub(super) async fn run(data: &DataArgs, args: &CommonArgs, limit: usize) -> anyhow::Result<()> {
    let mut cases = locomo::cases(&read_text(&data.data)?)?;
    for case in &mut cases {
        draw(&mut case.questions, limit);
    }
    let door = Door::open(args).await?;
    let mut table = Table::default();
    for import in [Import::Assistant, Import::Users] {
        let people: Vec<Person> = cases.iter().map(|case| person(case, import)).collect();
        door.import(&people).await?;
        let asked = || cases.iter().zip(&people).enumerate();
        let questions: Vec<(&Person, &str)> = asked()
            .flat_map(|(_, (case, person))| {
                case.questions
                    .iter()
                    .map(move |asked| (person, asked.text.as_str()))
            })
            .collect();
        let mut answers = door.ask_all(&questions).await?.into_iter();
        for (at, (case, _)) in asked() {
            let half = if at % 2 == 0 {
                Half::Developed
            } else {
                Half::HeldOut
            };
            for (question, given) in case.questions.iter().zip(&mut answers) {
                table.add(import, half, case, question, &given);
            }
        }
    }
    table.print(args.show);
    print_repeated(&door);
    Ok(())
}

/// Keeps at most `limit` questions, drawn evenly, since categories follow each other.
fn draw(questions: &mut Vec<Question>, limit: usize) {
    let all = questions.len();
    if limit > 0 && limit < all {
        let mut at = 0..all;
        questions.retain(|_| at.next().is_some_and(|at| (at * limit) % all < limit));
    }
}

fn person(case: &Case, import: Import) -> Person {
    let user = case.owner.id.as_str();
    let sessions = case.sessions().map(|session| Session {
        id: session[0].session.session.as_str().to_owned(),
        messages: session
            .iter()
            .map(|message| item(message, user, import))
            .collect(),
    });
    let project = case
        .messages
        .first()
        .map_or("default", |message| message.session.scope.project.as_str());
    Person {
        user: user.to_owned(),
        project: format!("{project}-{import:?}"),
        sessions: sessions.collect(),
    }
}

fn item(message: &Message, user: &str, import: Import) -> Value {
    let (sender, text) = (message.sender.as_str(), message.text());
    let timestamp = message.time.millis();
    match import {
        Import::Users => json!({
            "sender_id": sender, "sender_name": message.sender_name, "role": Role::User.as_str(),
            "timestamp": timestamp, "content": text,
        }),
        Import::Assistant if sender == user => json!({
            "sender_id": user, "role": Role::User.as_str(), "timestamp": timestamp, "content": spoken(&text),
        }),
        Import::Assistant => json!({
            "sender_id": "assistant", "role": Role::Assistant.as_str(), "timestamp": timestamp,
            "content": spoken(&text),
        }),
    }
}

/// The text without the picture attached to it.
fn spoken(text: &str) -> &str {
    text.split(PICTURE).next().unwrap_or_default()
}

/// The words that are compared.
fn compared_words(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '\''));
    words
        .filter(|word| word.len() > SHORT_WORD)
        .map(str::to_owned)
        .collect()
}

/// Whether the text contains enough of a message's words; a message without words never counts.
fn contains_message(message: &BTreeSet<String>, text: &BTreeSet<String>) -> bool {
    !message.is_empty()
        && message.intersection(text).count() as f64 >= CONTAINED_SHARE_MIN * message.len() as f64
}

#[derive(Debug, Default)]
struct Table {
    rows: BTreeMap<(Protocol, Half), Counts>,
    misses: Vec<String>,
}

#[derive(Debug, Default, Clone)]
struct Counts {
    questions: usize,
    /// Questions with at least one evidence message in the request.
    any: usize,
    evidence: usize,
    found: usize,
    nothing: usize,
    /// Characters divided by four.
    quarters: Vec<usize>,
    tokens: Vec<usize>,
}

impl Table {
    fn add(&mut self, import: Import, half: Half, case: &Case, question: &Question, given: &InjectedText) {
        let text = compared_words(&given.text);
        for users_only in [true, false] {
            let evidence: Vec<&Message> = case
                .messages
                .iter()
                .filter(|message| question.messages.contains(&message.id))
                .filter(|message| !users_only || message.sender.as_str() == case.owner.id.as_str())
                .collect();
            if evidence.is_empty() || (users_only && import == Import::Users) {
                continue;
            }
            let protocol = Protocol {
                import,
                users_only,
                open_domain: question.category == "3",
            };
            let found = evidence
                .iter()
                .filter(|message| contains_message(&compared_words(spoken(&message.text())), &text));
            let found = found.count();
            self.rows
                .entry((protocol, half))
                .or_default()
                .add(evidence.len(), found, given);
            if found == 0 && half == Half::Developed && users_only {
                let evidence: Vec<String> = evidence.iter().map(|message| message.text()).collect();
                let (asked, wanted) = (&question.text, evidence.join("\n        "));
                self.misses.push(format!(
                    "asked:  {asked}\nwanted: {wanted}\ngiven:  {}",
                    given.memory()
                ));
            }
        }
    }

    #[expect(clippy::print_stdout, reason = "the table is the result")]
    fn print(&self, show: usize) {
        let head = [
            "import, evidence, categories",
            "conversations",
            "questions",
            "some evidence given",
            "share of evidence given",
            "characters / 4, mean / p95",
            "tokens, mean / p95",
            "nothing given",
        ];
        row(&head.map(str::to_owned));
        row(&head.map(|_| "---".to_owned()));
        for ((protocol, half), counts) in &self.rows {
            row(&counts.cells(&format!("{protocol}"), *half));
        }
        for miss in self.misses.iter().take(show) {
            println!("\n{miss}");
        }
    }
}

impl Counts {
    fn add(&mut self, evidence: usize, found: usize, given: &InjectedText) {
        self.questions += 1;
        self.any += usize::from(found > 0);
        self.evidence += evidence;
        self.found += found;
        self.nothing += usize::from(given.is_nothing());
        self.quarters.push(given.text.chars().count() / 4);
        self.tokens.push(given.tokens);
    }

    fn cells(&self, protocol: &str, half: Half) -> [String; 8] {
        [
            protocol.to_owned(),
            match half {
                Half::Developed => "even, developed with".to_owned(),
                Half::HeldOut => "odd, held out".to_owned(),
            },
            self.questions.to_string(),
            format!("{:.3}", self.any as f64 / self.questions.max(1) as f64),
            format!("{:.3}", self.found as f64 / self.evidence.max(1) as f64),
            spread(&self.quarters),
            spread(&self.tokens),
            share(self.nothing, self.questions),
        ]
    }
}

impl std::fmt::Display for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match (self.import, self.users_only) {
            (Import::Assistant, true) => "user and assistant, what the user said",
            (Import::Assistant, false) => "user and assistant, what either said",
            (Import::Users, _) => "two users, what either said",
        })?;
        f.write_str(if self.open_domain { "; 3" } else { "; 1, 2, 4" })
    }
}

/// Mean and 95th percentile.
fn spread(values: &[usize]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * 95 / 100).min(sorted.len().saturating_sub(1));
    let mean = sorted.iter().sum::<usize>() / sorted.len().max(1);
    format!("{mean} / {}", sorted.get(at).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::{compared_words, contains_message, spread};

    #[test]
    fn evidence_is_given_when_three_fifths_of_its_words_are() {
        let said = compared_words("Yesterday we adopted a tortoise named Olive!");
        assert_eq!(said.len(), 5);
        assert!(contains_message(
            &said,
            &compared_words("- they ADOPTED the tortoise; Olive")
        ));
        assert!(!contains_message(
            &said,
            &compared_words("- they adopted olive trees")
        ));
        assert!(
            !contains_message(&compared_words("So do I."), &compared_words("So do I.")),
            "nothing to compare"
        );
    }

    #[test]
    fn a_spread_is_mean_and_p95() {
        let values: Vec<usize> = (1..=100).collect();
        assert_eq!(spread(&values), "50 / 96");
        assert_eq!(spread(&[]), "0 / 0");
    }
}
