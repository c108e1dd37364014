//! The written sets: made-up people, their messages in small conversations, and questions as each of them.
//!
//! Owns: their text format, the ids' halves, the match of words in a text. Never: the measure of a set.

use anyhow::{Context, bail, ensure};
use model::{Timestamp, Zone};
use serde_json::json;

use super::Half;
use super::door::{Door, InjectedText, Person, Session};

/// Time between two messages of a sitting.
const PACE_MS: i64 = 40_000;

/// A person, and the questions asked as that person.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) person: Person,
    pub(super) questions: Vec<Question>,
}

/// A question with the other parts of its line.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) parts: Vec<String>,
}

/// A question and the memory that its turn got.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) person: &'a Person,
    pub(super) question: &'a Question,
    pub(super) given: InjectedText,
}

impl Question {
    /// Odd ids are for development, even ones are held out.
    pub(super) fn half(&self) -> Half {
        if self.id.ends_with(['1', '3', '5', '7', '9']) {
            Half::Developed
        } else {
            Half::HeldOut
        }
    }

    /// The part at this position after the question; empty if there is none.
    pub(super) fn part(&self, at: usize) -> &str {
        self.parts.get(at).map_or("", String::as_str)
    }
}

/// Imports everybody's messages and asks all their questions.
pub(super) async fn ask<'a>(door: &Door, people: &'a [Asked]) -> anyhow::Result<Vec<Answer<'a>>> {
    let persons: Vec<Person> = people.iter().map(|asked| asked.person.clone()).collect();
    door.import(&persons).await?;
    let asked: Vec<(&Person, &Question)> = people
        .iter()
        .flat_map(|asked| asked.questions.iter().map(|question| (&asked.person, question)))
        .collect();
    let texts: Vec<(&Person, &str)> = asked
        .iter()
        .map(|(person, question)| (*person, question.text.as_str()))
        .collect();
    let answers = asked.iter().zip(door.ask_all(&texts).await?);
    Ok(answers
        .map(|((person, question), given)| Answer {
            person,
            question,
            given,
        })
        .collect())
}

/// Prints up to `count` failures of the development half.
#[expect(clippy::print_stdout, reason = "asked for with `--show`")]
pub(super) fn show<'a>(failures: impl Iterator<Item = &'a Answer<'a>>, count: usize) {
    let developed = failures.filter(|answer| answer.question.half() == Half::Developed);
    for Answer { question, given, .. } in developed.take(count) {
        println!(
            "\n{} {} | {}\n{}",
            question.id,
            question.text,
            question.parts.join(" | "),
            given.memory()
        );
    }
}

/// Reads a set. A line is a person (`@ name | who`), a sitting's date, a message of the user (`U `) or the
/// assistant (`A `), a question (`? id | question | part | …`), a comment (`#`) or empty. In messages and
/// questions, `\n` is a line break.
pub(super) fn read(text: &str) -> anyhow::Result<Vec<Asked>> {
    let mut people: Vec<Asked> = Vec::new();
    let mut now = Timestamp::default();
    for (number, line) in (1..).zip(text.lines()) {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.replace("\\n", "\n");
        if mark.is_empty() || mark.starts_with('#') {
            continue;
        }
        let line_of = || format!("line {number}: {line}");
        if mark == "@" {
            people.push(somebody(&rest));
            continue;
        }
        let last = people.last_mut().with_context(line_of)?;
        match mark {
            "?" => last.questions.push(question(&rest)),
            "U" | "A" => {
                say(&mut last.person, mark == "U", now, &rest).with_context(line_of)?;
                now = now.plus_millis(PACE_MS);
            }
            date => {
                now = Zone::utc()
                    .parse(&format!("{date}T18:00:00"))
                    .with_context(line_of)?;
                ensure!(rest.is_empty(), "{}", line_of());
                let id = format!("{}-{date}", last.person.user);
                last.person.sessions.push(Session {
                    id,
                    messages: Vec::new(),
                });
            }
        }
    }
    if people.is_empty() {
        bail!("nobody is in the set");
    }
    Ok(people)
}

fn somebody(line: &str) -> Asked {
    let name = line.split(" | ").next().unwrap_or_default().trim();
    let person = Person {
        user: name.to_owned(),
        project: "default".to_owned(),
        sessions: Vec::new(),
    };
    Asked {
        person,
        questions: Vec::new(),
    }
}

fn question(line: &str) -> Question {
    let mut parts = line.split(" | ").map(str::trim).map(str::to_owned);
    let mut next = || parts.next().unwrap_or_default();
    Question {
        id: next(),
        text: next(),
        parts: parts.collect(),
    }
}

fn say(person: &mut Person, is_user: bool, at: Timestamp, text: &str) -> anyhow::Result<()> {
    let (sender, role) = if is_user {
        (person.user.as_str(), "user")
    } else {
        ("assistant", "assistant")
    };
    let message = json!({"sender_id": sender, "role": role, "timestamp": at.millis(), "content": text});
    person
        .sessions
        .last_mut()
        .context("no date before it")?
        .messages
        .push(message);
    Ok(())
}

/// Whether the text contains the key: every part between commas, and of spellings between slashes, one.
pub(crate) fn stands(text: &str, key: &str) -> bool {
    let text = text.to_lowercase();
    key.to_lowercase()
        .split(',')
        .all(|part| part.split('/').any(|word| begins_in(&text, word.trim())))
}

/// Whether a word of the text begins like this.
fn begins_in(text: &str, word: &str) -> bool {
    let mut found = text.match_indices(word);
    found.any(|(at, _)| !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric()))
}

/// The person's own messages and the assistant's, line by line.
#[cfg(test)]
pub(super) fn lines_of(person: &Person) -> Vec<String> {
    let messages = person.sessions.iter().flat_map(|session| &session.messages);
    messages
        .map(|message| message["content"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Rules of every set: ids are unique, halves are of equal size, sittings are in order.
#[cfg(test)]
pub(super) fn check(people: &[Asked], questions: usize) {
    let mut ids = std::collections::BTreeSet::new();
    let all: Vec<&Question> = people.iter().flat_map(|asked| &asked.questions).collect();
    assert!(all.iter().all(|asked| ids.insert(&asked.id)), "ids are unique");
    let held_out = all.iter().filter(|asked| asked.half() == Half::HeldOut).count();
    assert_eq!((all.len(), held_out), (questions, questions / 2));
    for Asked { person, .. } in people {
        let dates: Vec<&String> = person.sessions.iter().map(|session| &session.id).collect();
        assert!(dates.is_sorted_by(|a, b| a < b), "{}: {dates:?}", person.user);
        assert!(
            person.sessions.iter().all(|session| !session.messages.is_empty()),
            "{}",
            person.user
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{Half, read, stands};

    #[test]
    fn a_set_is_read() {
        let text = "# a comment\n@ ana | 34, Porto\n2026-01-02\nU My boat is Marula.\nA Nice.\n? f1 | Boat? | Marula\n\
                    2026-02-03\nU one\\ntwo\n? f2 | What?\n";
        let people = read(text).expect("a set");
        let sessions = &people[0].person.sessions;
        assert_eq!(sessions.len(), 2);
        assert_eq!(sessions[0].messages[1]["role"], "assistant");
        assert_eq!(sessions[1].messages[0]["content"], "one\ntwo");
        assert_eq!(
            (
                people[0].questions[0].text.as_str(),
                people[0].questions[0].part(0)
            ),
            ("Boat?", "Marula")
        );
        assert_eq!(people[0].questions[0].half(), Half::Developed);
        assert_eq!(people[0].questions[1].half(), Half::HeldOut);
        assert!(read("U nobody says this").is_err());
        assert!(read("@ ana\nyesterday\nU hi").is_err());
    }

    #[test]
    fn a_key_matches_the_beginning_of_words() {
        assert!(stands("We sail to Brest", "sail, brest/Lorient"));
        assert!(!stands("We sail to Brest", "sail, Lorient"));
        assert!(stands("sailing", "sail") && !stands("assail", "sail"));
        assert!(stands("我住在杭州", "杭州"));
    }
}
