//! Turns of unfamiliar people: each set is by another writer, who knew nothing of Quipu.
//!
//! Owns: the sets (`strangers/*.txt`), their kinds of turns, the table. Never: the sets' format (`sets`).

use anyhow::bail;

use super::door::Door;
use super::sets::{self, Answer, Asked, Question, stands};
use super::{CommonArgs, Half, print_repeated, share, updates};
use crate::row;

pub(super) const SETS: [&str; 3] = [
    include_str!("strangers/a.txt"),
    include_str!("strangers/b.txt"),
    include_str!("strangers/c.txt"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `fact | key`: said once, and asked for in other words.
    Fact,
    /// `changed | old | new`: asks for the current value.
    Changed,
    /// About the person, and never said.
    Unanswerable,
    /// A turn for which no earlier message is useful.
    Unrelated,
}

/// Imports, asks and prints.
pub(super) async fn run(args: &CommonArgs) -> anyhow::Result<()> {
    let people = people()?;
    let door = Door::open(args).await?;
    let answers = sets::ask(&door, &people).await?;
    let head = [
        "strangers' turns",
        "half",
        "answer given",
        "an old value unmarked",
        "any memory given",
        "tokens, mean",
    ];
    row(&head.map(str::to_owned));
    row(&["---"; 6].map(str::to_owned));
    for (kind, name) in Kind::ALL {
        for half in [Half::Developed, Half::HeldOut] {
            let mut of_half = Vec::new();
            for answer in answers.iter().filter(|answer| answer.question.half() == half) {
                if Kind::of(answer.question)? == kind {
                    of_half.push(answer);
                }
            }
            let count = |is: &dyn Fn(&Answer<'_>) -> bool| {
                share(of_half.iter().filter(|answer| is(answer)).count(), of_half.len())
            };
            let tokens: usize = of_half.iter().map(|answer| answer.given.tokens).sum();
            row(&[
                name.to_owned(),
                half.to_string(),
                kind.answer()
                    .map_or_else(String::new, |_| count(&|answer| kind.is_answered(answer))),
                if kind == Kind::Changed {
                    count(&is_stale)
                } else {
                    String::new()
                },
                count(&|answer| !answer.given.is_nothing()),
                (tokens / of_half.len().max(1)).to_string(),
            ]);
        }
    }
    print_repeated(&door);
    let mut failures = Vec::new();
    for answer in &answers {
        let kind = Kind::of(answer.question)?;
        let is_well = match kind.answer() {
            Some(_) => kind.is_answered(answer) && !(kind == Kind::Changed && is_stale(answer)),
            None => answer.given.is_nothing(),
        };
        if !is_well {
            failures.push(answer);
        }
    }
    sets::show(failures.into_iter(), args.show);
    Ok(())
}

/// Everybody of all sets.
pub(super) fn people() -> anyhow::Result<Vec<Asked>> {
    let mut people = Vec::new();
    for set in SETS {
        people.extend(sets::read(set)?);
    }
    Ok(people)
}

impl Kind {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Fact, "fact"),
        (Self::Changed, "changed"),
        (Self::Unanswerable, "unanswerable"),
        (Self::Unrelated, "unrelated"),
    ];

    fn of(question: &Question) -> anyhow::Result<Self> {
        let word = question.part(0);
        match Self::ALL.into_iter().find(|(_, name)| *name == word) {
            Some((kind, _)) => Ok(kind),
            None => bail!("{} is of no kind: `{word}`", question.id),
        }
    }

    /// The part of the line with the answer's words.
    fn answer(self) -> Option<usize> {
        match self {
            Self::Fact => Some(1),
            Self::Changed => Some(2),
            Self::Unanswerable | Self::Unrelated => None,
        }
    }

    fn is_answered(self, answer: &Answer<'_>) -> bool {
        let part = self.answer();
        part.is_some_and(|part| stands(answer.given.memory(), answer.question.part(part)))
    }
}

fn is_stale(answer: &Answer<'_>) -> bool {
    let question = answer.question;
    updates::says_stale(answer.given.memory(), question.part(1), question.part(2))
}

#[cfg(test)]
mod tests {
    use super::{Kind, people, sets};

    #[test]
    fn every_answer_is_said_and_occurs_in_no_question() {
        let people = people().expect("three sets");
        assert_eq!(people.len(), 9);
        sets::check(&people, 360);
        let mut counts = [0; 4];
        for asked in &people {
            let said = sets::lines_of(&asked.person);
            for question in &asked.questions {
                let kind = Kind::of(question).expect("a kind");
                let at = Kind::ALL.iter().position(|(known, _)| *known == kind);
                counts[at.expect("known")] += 1;
                if let Some(part) = kind.answer() {
                    let key = question.part(part);
                    assert!(
                        said.iter().any(|line| sets::stands(line, key)),
                        "{}: {key}",
                        question.id
                    );
                    assert!(!sets::stands(&question.text, key), "{}: {key}", question.id);
                }
            }
        }
        assert_eq!(counts, [108, 72, 90, 90]);
    }
}
