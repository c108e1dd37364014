//! Memory of a person's own export, measured privately: the output is labels and numbers.
//!
//! Owns: the order of a run. Never: printing or keeping a word of the export, of a question or of an answer.
//!
//! Reading order: `product` (the binary in temporary folders), `talk` (conversations and moments),
//! `questions` (the person's file), `figures` (the figures and their table).

mod figures;
mod product;
mod questions;
mod talk;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use anyhow::{bail, ensure};

use crate::turn::door::Person;
use figures::{Figures, Scores};
use product::{PROJECT, Product};
use questions::Question;
use talk::{Moment, Talk};

/// Questions that concern nobody's memory, one a line.
const GENERAL: &str = include_str!("own/general.txt");

#[derive(Debug, clap::Args)]
pub(crate) struct OwnArgs {
    /// The built binary
    #[arg(long, default_value = "target/release/quipu")]
    binary: PathBuf,
    /// What to measure on: a file or folder that `quipu import` reads
    #[arg(long)]
    export: PathBuf,
    /// The person whose memory it is, as for `quipu import --user`
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Your questions, one a line: the question, a tab, words of the answer (none: memory knows nothing of it), and if you
    /// like a tab and words that were overtaken. All words between commas must stand there, of words between slashes one.
    /// Or an object a line with `question`, `answer` and `overtaken`
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
}

/// Measures and prints. An interrupt ends the servers and removes their folders too.
pub(crate) async fn run(args: OwnArgs) -> anyhow::Result<()> {
    let figures = tokio::select! {
        figures = measure(&args) => figures?,
        _ = tokio::signal::ctrl_c() => bail!("interrupted: nothing was kept"),
    };
    print!("{}", figures.table());
    Ok(())
}

async fn measure(args: &OwnArgs) -> anyhow::Result<Figures> {
    let questions = args.questions.as_deref().map(questions::read).transpose()?;
    let product = Product::open(&args.binary).await?;
    let mut figures = Figures {
        skipped: product.import(&args.export, args.user.as_deref()).await?,
        ..Figures::default()
    };
    let person = product.person(args.user.as_deref()).await?;
    let talk = of_everything(&product, &person, questions.as_deref(), &mut figures).await?;
    drop(product);
    of_moments(args, &person.user, talk.later_half(&person.user), &mut figures).await?;
    Ok(figures)
}

/// Figures of the memory of the whole export: its beliefs, the printed places and the turns.
async fn of_everything(
    product: &Product,
    person: &Person,
    questions: Option<&[Question]>,
    figures: &mut Figures,
) -> anyhow::Result<Talk> {
    product.trigger("extract_foresight").await?;
    for question in GENERAL.lines() {
        figures.general.add(product.ask(person, question).await.as_ref());
    }
    if let Some(questions) = questions {
        figures.questions = Some(scores(product, person, questions).await?);
    }
    // Core memory is last, because every first turn gets it, whatever the question.
    product.trigger("extract_user_profile").await?;
    product.trigger("dream").await?;
    let talk = Talk::read(&product.export(person).await?)?;
    ensure!(talk.messages() > 0, "the export has no messages");
    (figures.conversations, figures.messages) = (talk.conversations.len(), talk.messages());
    (figures.facts, figures.in_doubt) = product.believed(person).await?;
    figures.core_lines = talk.core_lines;
    figures.repeated += product.repeated();
    Ok(talk)
}

async fn scores(product: &Product, person: &Person, questions: &[Question]) -> anyhow::Result<Scores> {
    let mut scores = Scores::default();
    for (number, question) in (1..).zip(questions) {
        let printed = product.printed(person, &question.text).await?;
        let Some(given) = product.ask(person, &question.text).await else {
            bail!("the server refused a turn with question {number}");
        };
        scores.add(question, &printed, &given);
    }
    Ok(scores)
}

/// The first turns of the later half. An empty root gets the conversations in order of time, so each turn
/// meets a memory of earlier messages only.
async fn of_moments(
    args: &OwnArgs,
    user: &str,
    moments: Vec<Moment>,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let product = Product::open(&args.binary).await?;
    let person = Person {
        user: user.to_owned(),
        project: PROJECT.to_owned(),
        sessions: Vec::new(),
    };
    for moment in moments {
        product.add(&moment.said).await?;
        product.trigger("extract_foresight").await?;
        figures
            .own
            .add(product.ask(&person, &moment.question).await.as_ref());
    }
    figures.repeated += product.repeated();
    Ok(())
}
