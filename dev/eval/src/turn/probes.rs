//! Turns that memory should answer, and turns that it should leave alone.
//!
//! Owns: the set (`probes.txt`), its table, how well the search route's scores separate the kinds. Never: the
//! set's format (`sets`), a threshold.

use anyhow::bail;
use serde_json::Value;

use super::door::Door;
use super::sets::{self, Answer, Question, stands};
use super::{CommonArgs, Half, print_repeated, share};
use crate::row;

const SET: &str = include_str!("probes.txt");
/// Lists of the search route's answer; the best score of each is printed.
const LISTS: [&str; 3] = ["episodes", "facts", "messages"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Memory holds the answer.
    Answerable,
    /// About a subject in memory, but the answer was never said.
    Unanswerable,
    /// A task or small talk for which memory has nothing useful.
    Unrelated,
}

/// Imports, asks and prints.
pub(super) async fn run(args: &CommonArgs, scores: bool) -> anyhow::Result<()> {
    let people = sets::read(SET)?;
    let door = Door::open(args).await?;
    let answers = sets::ask(&door, &people).await?;
    let mut probes = Vec::new();
    for answer in &answers {
        probes.push((Kind::of(answer.question)?, answer));
    }
    print(&probes);
    print_repeated(&door);
    if scores {
        print_scores(&door, &probes).await?;
    }
    let failures = probes.iter().filter(|(kind, answer)| !kind.is_well(answer));
    sets::show(failures.map(|(_, answer)| *answer), args.show);
    Ok(())
}

impl Kind {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Answerable, "answerable"),
        (Self::Unanswerable, "unanswerable"),
        (Self::Unrelated, "unrelated"),
    ];

    /// The kind is the first word of the part after the question; a language may follow.
    fn of(question: &Question) -> anyhow::Result<Self> {
        let word = question.part(0).split(' ').next().unwrap_or_default();
        match Self::ALL.into_iter().find(|(_, name)| *name == word) {
            Some((kind, _)) => Ok(kind),
            None => bail!("{} is of no kind: `{word}`", question.id),
        }
    }

    fn is_well(self, answer: &Answer<'_>) -> bool {
        match self {
            Self::Answerable => is_answered(answer),
            Self::Unanswerable | Self::Unrelated => answer.given.is_nothing(),
        }
    }
}

fn is_answered(answer: &Answer<'_>) -> bool {
    stands(answer.given.memory(), answer.question.part(1))
}

type Probe<'a> = (Kind, &'a Answer<'a>);

fn print(probes: &[Probe<'_>]) {
    row(&[
        "probes",
        "half",
        "answer given",
        "any memory given",
        "tokens, mean",
    ]
    .map(str::to_owned));
    row(&["---"; 5].map(str::to_owned));
    for (kind, name) in Kind::ALL {
        for half in [Half::Developed, Half::HeldOut] {
            let of_half: Vec<&Answer<'_>> = of(probes, kind, half).collect();
            let count = |is: &dyn Fn(&Answer<'_>) -> bool| of_half.iter().filter(|answer| is(answer)).count();
            let tokens: usize = of_half.iter().map(|answer| answer.given.tokens).sum();
            row(&[
                name.to_owned(),
                half.to_string(),
                match kind {
                    Kind::Answerable => share(count(&is_answered), of_half.len()),
                    Kind::Unanswerable | Kind::Unrelated => String::new(),
                },
                share(count(&|answer| !answer.given.is_nothing()), of_half.len()),
                (tokens / of_half.len().max(1)).to_string(),
            ]);
        }
    }
}

fn of<'a>(probes: &'a [Probe<'a>], kind: Kind, half: Half) -> impl Iterator<Item = &'a Answer<'a>> {
    let is_of = move |probe: &&Probe<'_>| probe.0 == kind && probe.1.question.half() == half;
    probes.iter().filter(is_of).map(|probe| probe.1)
}

/// Prints the best score of each list for each odd probe, and for both halves how well that score separates
/// the kinds.
async fn print_scores(door: &Door, probes: &[Probe<'_>]) -> anyhow::Result<()> {
    row(&["probe", "kind", LISTS[0], LISTS[1], LISTS[2], "question"].map(str::to_owned));
    row(&["---"; 6].map(str::to_owned));
    let mut scored = Vec::new();
    for (kind, answer) in probes {
        let question = answer.question;
        let found = door.search(answer.person, &question.text).await?;
        let best = LISTS.map(|list| best(&found[list]));
        if question.half() == Half::Developed {
            let [episodes, facts, messages] = best.map(|score| format!("{score:.3}"));
            let text = question.text.lines().next().unwrap_or_default().to_owned();
            row(&[
                question.id.clone(),
                question.part(0).to_owned(),
                episodes,
                facts,
                messages,
                text,
            ]);
        }
        scored.push((*kind, question.half(), best));
    }
    row(&["AUC", "half", LISTS[0], LISTS[1], LISTS[2]].map(str::to_owned));
    row(&["---"; 5].map(str::to_owned));
    for (other, name) in &Kind::ALL[1..] {
        for half in [Half::Developed, Half::HeldOut] {
            let areas = [0, 1, 2].map(|at| {
                let of = |kind| {
                    scored
                        .iter()
                        .filter(move |s| s.0 == kind && s.1 == half)
                        .map(|s| s.2[at])
                };
                format!(
                    "{:.3}",
                    area(
                        &of(Kind::Answerable).collect::<Vec<_>>(),
                        &of(*other).collect::<Vec<_>>()
                    )
                )
            });
            let [episodes, facts, messages] = areas;
            row(&[
                format!("answerable before {name}"),
                half.to_string(),
                episodes,
                facts,
                messages,
            ]);
        }
    }
    Ok(())
}

/// The highest score of a list; 0 for an empty one.
fn best(list: &Value) -> f64 {
    let items = list.as_array().into_iter().flatten();
    items
        .filter_map(|item| item["score"].as_f64())
        .fold(0.0, f64::max)
}

/// The probability that one of the first scores more than one of the second; ties count half.
fn area(first: &[f64], second: &[f64]) -> f64 {
    let pairs = first.iter().flat_map(|a| second.iter().map(move |b| (a, b)));
    let won: f64 = pairs
        .map(|(a, b)| match a.total_cmp(b) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        })
        .sum();
    won / ((first.len() * second.len()).max(1)) as f64
}

#[cfg(test)]
mod tests {
    use super::{Kind, SET, area, sets};

    #[test]
    fn there_are_60_40_and_40_probes_and_every_answer_is_said() {
        let people = sets::read(SET).expect("probes");
        sets::check(&people, 140);
        let mut counts = [0; 3];
        for asked in &people {
            let said = sets::lines_of(&asked.person);
            assert!(
                (60..=100).contains(&said.len()),
                "{}: {}",
                asked.person.user,
                said.len()
            );
            for question in &asked.questions {
                let kind = Kind::of(question).expect("a kind");
                counts[Kind::ALL
                    .iter()
                    .position(|(known, _)| *known == kind)
                    .expect("known")] += 1;
                if kind == Kind::Answerable {
                    let key = question.part(1);
                    assert!(
                        said.iter().any(|line| sets::stands(line, key)),
                        "{}: {key}",
                        question.id
                    );
                    assert!(!sets::stands(&question.text, key), "{}: {key}", question.id);
                }
            }
        }
        assert_eq!(counts, [60, 40, 40]);
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "quarters are exact")]
    fn the_area_counts_pairs_in_order() {
        assert_eq!(area(&[3.0, 2.0], &[1.0, 0.0]), 1.0);
        assert_eq!(area(&[1.0, 0.0], &[1.0, 0.5]), 0.375);
    }
}
