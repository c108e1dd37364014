//! Changed facts: does the turn get the current value, and is an old value next to it marked as past?
//!
//! Owns: the set (`changed.txt`), the marks of a past value, the table. Never: the set's format (`sets`).

use super::door::Door;
use super::sets::{self, Answer, stands};
use super::{CommonArgs, Half, print_repeated, share};
use crate::row;

const SET: &str = include_str!("changed.txt");

/// Marks of the proxy on an item that is no longer current. Nobody in the set writes any of these.
const MARKS: [&str; 5] = ["superseded", "until ", "no longer", "earlier:", "(past)"];

/// Imports, asks and prints.
pub(super) async fn run(args: &CommonArgs) -> anyhow::Result<()> {
    let people = sets::read(SET)?;
    let door = Door::open(args).await?;
    let answers = sets::ask(&door, &people).await?;
    let head = [
        "changed facts",
        "current value given",
        "and no old value unmarked",
        "old value unmarked",
        "only the old value, unmarked",
        "nothing given",
        "tokens, mean",
    ];
    row(&head.map(str::to_owned));
    row(&["---"; 7].map(str::to_owned));
    for half in [Half::Developed, Half::HeldOut] {
        let of_half: Vec<&Answer<'_>> = answers
            .iter()
            .filter(|answer| answer.question.half() == half)
            .collect();
        let count = |is: &dyn Fn(&Answer<'_>) -> bool| {
            share(of_half.iter().filter(|answer| is(answer)).count(), of_half.len())
        };
        let tokens: usize = of_half.iter().map(|answer| answer.given.tokens).sum();
        row(&[
            half.to_string(),
            count(&is_current),
            count(&|answer| is_current(answer) && !is_stale(answer)),
            count(&is_stale),
            count(&|answer| is_stale(answer) && !is_current(answer)),
            count(&|answer| answer.given.is_nothing()),
            (tokens / of_half.len().max(1)).to_string(),
        ]);
    }
    print_repeated(&door);
    sets::show(
        answers
            .iter()
            .filter(|answer| !is_current(answer) || is_stale(answer)),
        args.show,
    );
    Ok(())
}

fn is_current(answer: &Answer<'_>) -> bool {
    stands(answer.given.memory(), answer.question.part(1))
}

fn is_stale(answer: &Answer<'_>) -> bool {
    says_stale(
        answer.given.memory(),
        answer.question.part(0),
        answer.question.part(1),
    )
}

/// Whether an item of the injected text has the old value without the new one and without a mark.
pub(super) fn says_stale(given: &str, old: &str, new: &str) -> bool {
    let is_marked = |item: &str| MARKS.iter().any(|mark| item.to_lowercase().contains(mark));
    items(given)
        .iter()
        .any(|item| stands(item, old) && !stands(item, new) && !is_marked(item))
}

/// The lines, each joined with the indented lines that continue it.
fn items(given: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in given.lines() {
        match items.last_mut() {
            Some(last) if line.starts_with("  ") => {
                last.push('\n');
                last.push_str(line);
            }
            _ => items.push(line.to_owned()),
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::{MARKS, SET, says_stale, sets};

    #[test]
    fn every_old_value_is_said_before_the_new_one_and_nobody_uses_a_mark() {
        let people = sets::read(SET).expect("changes");
        sets::check(&people, 60);
        for asked in &people {
            let said = sets::lines_of(&asked.person);
            let last = |key: &str| said.iter().rposition(|line| sets::stands(line, key));
            for question in &asked.questions {
                let (old, new) = (question.part(0), question.part(1));
                let first_new = said.iter().position(|line| sets::stands(line, new));
                let first_old = said.iter().position(|line| sets::stands(line, old));
                assert!(
                    first_old.is_some() && first_old < first_new,
                    "{}: {old}, {new}",
                    question.id
                );
                assert!(
                    last(old).is_some() && last(old) <= last(new),
                    "{}: {old} comes again",
                    question.id
                );
                assert!(!sets::stands(&question.text, old), "{}", question.id);
                assert!(!sets::stands(&question.text, new), "{}", question.id);
            }
            for line in said {
                let marked = MARKS.iter().find(|mark| line.to_lowercase().contains(*mark));
                assert_eq!(marked, None, "{line}");
            }
        }
    }

    #[test]
    fn an_old_value_is_stale_without_a_mark_and_without_the_new_value() {
        let stale = |given| says_stale(given, "Croydon", "Margate");
        assert!(stale(
            "- 2025-03-14: lives in Croydon\n- 2026-01-02: lives in Margate"
        ));
        assert!(!stale("- until 2026-01-02: lives in Croydon\n- lives in Margate"));
        assert!(!stale("- (past) home\n  lives in Croydon"));
        assert!(!stale("- moved from Croydon to Margate"));
        assert!(!stale("- lives in Margate"));
    }
}
