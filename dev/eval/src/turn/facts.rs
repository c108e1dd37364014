//! Remembered facts, each asked for in other words.
//!
//! Owns: the set (`facts.txt`) and its table. Never: the set's format (`sets`).

use super::door::Door;
use super::sets::{self, Answer, stands};
use super::{CommonArgs, Half, print_repeated, share};
use crate::row;

const SET: &str = include_str!("facts.txt");

/// Imports, asks and prints.
pub(super) async fn run(args: &CommonArgs) -> anyhow::Result<()> {
    let people = sets::read(SET)?;
    let door = Door::open(args).await?;
    let answers = sets::ask(&door, &people).await?;
    row(&["facts", "given", "nothing given", "tokens, mean"].map(str::to_owned));
    row(&["---"; 4].map(str::to_owned));
    for half in [Half::Developed, Half::HeldOut] {
        let of_half = || answers.iter().filter(|answer| answer.question.half() == half);
        let all = of_half().count();
        row(&[
            half.to_string(),
            share(of_half().filter(|answer| has_answer(answer)).count(), all),
            share(of_half().filter(|answer| answer.given.is_nothing()).count(), all),
            (of_half().map(|answer| answer.given.tokens).sum::<usize>() / all.max(1)).to_string(),
        ]);
    }
    print_repeated(&door);
    sets::show(answers.iter().filter(|answer| !has_answer(answer)), args.show);
    Ok(())
}

fn has_answer(answer: &Answer<'_>) -> bool {
    stands(answer.given.memory(), answer.question.part(0))
}

#[cfg(test)]
mod tests {
    use super::{SET, sets};

    #[test]
    fn every_answer_is_said_and_occurs_in_no_question() {
        let people = sets::read(SET).expect("facts");
        assert_eq!(people.len(), 6);
        sets::check(&people, 120);
        for asked in &people {
            let said = sets::lines_of(&asked.person);
            for question in &asked.questions {
                let key = question.part(0);
                assert!(
                    said.iter().any(|line| sets::stands(line, key)),
                    "{}: {key}",
                    question.id
                );
                assert!(!sets::stands(&question.text, key), "{}: {key}", question.id);
            }
        }
    }
}
