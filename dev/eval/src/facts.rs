//! A random sample of the statements that the rules extract from a set, for a reader to judge.
//!
//! Owns: the sample. Never: a judgement, or a data set.

use std::collections::{BTreeSet, HashSet};

use clap::ValueEnum;
use extract::Limits;
use extract::consolidate::{foresight, known::KnownFact, profile};
use model::{Cell, CellId, CutReason, Message, MessageId, Role, Zone};

use crate::cases::Case;
use crate::offline::Half;

#[derive(Debug, clap::Args)]
pub(crate) struct FactsArgs {
    /// What is drawn
    #[arg(long, value_enum, default_value = "facts")]
    kind: Kind,
    /// Which cases: rules are made looking at the development half
    #[arg(long, value_enum, default_value = "dev")]
    half: Half,
    /// How many are drawn
    #[arg(long, default_value_t = 100)]
    draw: usize,
    /// Another seed draws others
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Facts,
    Foresights,
    Profile,
}

/// A statement and its source sentence.
struct Learnt {
    text: String,
    sentence: String,
}

/// Prints the sample and the total number of statements.
pub(crate) fn run(cases: &[Case], args: &FactsArgs) {
    let mut seen: HashSet<String> = HashSet::new();
    let (mut said, mut learnt) = (0, Vec::new());
    for (number, case) in cases.iter().enumerate() {
        if !args.half.has(number) {
            continue;
        }
        // Cases of LongMemEval share sessions.
        let is_new = |session: &&[Message]| seen.insert(session.iter().map(Message::text).collect());
        let sessions: Vec<&[Message]> = case.sessions().filter(is_new).collect();
        let users = sessions
            .iter()
            .copied()
            .flatten()
            .filter(|message| message.role == Role::User);
        said += users.count();
        let cells: Vec<Cell> = sessions.into_iter().flat_map(cut).collect();
        match args.kind {
            Kind::Facts => learnt.extend(cells.iter().flat_map(facts)),
            Kind::Foresights => learnt.extend(cells.iter().flat_map(foresights)),
            Kind::Profile => learnt.extend(statements(&cells)),
        }
    }
    let per_thousand = learnt.len() * 1_000 / said.max(1);
    println!("{} of {said} messages, {per_thousand} of 1,000\n", learnt.len());
    let mut state = args.seed;
    for number in 1..=args.draw.min(learnt.len()) {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(state >> 33).unwrap_or(0) % learnt.len();
        let Learnt { text, sentence } = learnt.swap_remove(at);
        println!("{number}. {text}\n   < {sentence}");
    }
}

fn cut(session: &[Message]) -> Vec<Cell> {
    let cuts = extract::boundaries(session, None, &Limits::default());
    let mut start = 0;
    let ends = cuts.iter().map(|cut| cut.end).chain([session.len()]);
    ends.map(|end| {
        let messages = session[start..end].to_vec();
        start = end;
        Cell {
            id: CellId::new("mc"),
            session: session[0].session.clone(),
            messages,
            owners: Vec::new(),
            reason: CutReason::Flush,
        }
    })
    .filter(|cell| !cell.messages.is_empty())
    .collect()
}

fn facts(cell: &Cell) -> Vec<Learnt> {
    let of = |fact: extract::Fact| Learnt {
        sentence: source(cell, &fact.sources[0], &fact.text),
        text: fact.text,
    };
    extract::facts(cell, &Zone::utc()).into_iter().map(of).collect()
}

fn foresights(cell: &Cell) -> Vec<Learnt> {
    let of = |event: foresight::Foresight| Learnt {
        text: event.content,
        sentence: event.evidence,
    };
    foresight::foresights(&cell.messages, &Zone::utc())
        .into_iter()
        .map(of)
        .collect()
}

/// The profile statements of everybody who spoke in the cells.
fn statements(cells: &[Cell]) -> Vec<Learnt> {
    let facts: Vec<extract::Fact> = cells
        .iter()
        .flat_map(|cell| extract::facts(cell, &Zone::utc()))
        .collect();
    let senders: BTreeSet<_> = facts.iter().map(|fact| &fact.sender).collect();
    let mut found = Vec::new();
    for sender in senders {
        let ids: Vec<String> = (0..facts.len()).map(|at| format!("af{at:06}")).collect();
        let own = ids.iter().zip(&facts).filter(|(_, fact)| fact.sender == *sender);
        let known: Vec<KnownFact<'_>> = own
            .map(|(id, fact)| KnownFact {
                id,
                text: &fact.text,
                time: fact.said_at,
                sources: &fact.sources,
                session: None,
                is_by_hand: false,
                is_current: true,
            })
            .collect();
        let items = profile::items(&known, &Zone::utc());
        found.extend(items.into_iter().map(|item| Learnt {
            text: format!("{}: {}", item.subject, item.body),
            sentence: item.evidence,
        }));
    }
    found
}

/// The sentence of a message that shares the most words with a fact.
fn source(cell: &Cell, id: &MessageId, fact: &str) -> String {
    let words = |text: &str| -> HashSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words.map(str::to_lowercase).collect()
    };
    let said = words(fact);
    let message = cell.messages.iter().find(|message| message.id == *id);
    let text = message.map(extract::own_words).unwrap_or_default();
    let sentences = extract::sentences(&text);
    let nearest = sentences
        .into_iter()
        .max_by_key(|sentence| words(sentence).intersection(&said).count());
    nearest.unwrap_or_default().to_owned()
}
