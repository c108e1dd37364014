//! Ranking alone: the rules cut and extract, the static table embeds, and each case is one corpus in this
//! process.
//!
//! Owns: making rows the way the engine does, for tuning weights without a server. Never: the product's own
//! path (`server` measures that).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::ValueEnum;
use extract::{Counts, KnownFacts, Limits, Statement};
use model::{
    Cell, CellId, CutReason, Doc, DocKey, DocKind, EntryId, EntryKind, Message, MessageId, Parent,
    ParentKind, Timestamp, Zone,
};
use ports::{EmbedPurpose, Embedder};
use providers::{BertEmbedder, BertSettings, StaticEmbedder};
use recall::{Corpus, Cosines, Hit, Method, QUESTIONS, Query, Ranking, STATEMENTS, Shortlist, Weights};

use crate::bm25::Bm25;
use crate::cached::Cached;
use crate::cases::{Case, Question};
use crate::measure::{Measured, Ranked};

/// The maximum of a server.
const MESSAGES_MAX: usize = 200;

/// Evidence after this position is printed as missed, together with this many first messages, each with its
/// beginning.
const PRINTED_DEPTH: usize = 10;
const PRINTED_FIRST: usize = 3;
const PRINTED_CHARS: usize = 240;

#[derive(Debug, clap::Args)]
pub(crate) struct OfflineArgs {
    /// Which evidence may be used
    #[arg(long, value_enum, default_value = "hybrid")]
    method: MethodArg,
    /// Only verbatim turns: no episodes, no facts
    #[arg(long)]
    turns_only: bool,
    /// Which cases
    #[arg(long, value_enum, default_value = "all")]
    half: Half,
    /// Print the questions that miss evidence among the first ten messages, with its places; never of the odd half
    #[arg(long)]
    show: bool,
    /// A weight other than the default, as in `near=1.2`; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    weights: Vec<String>,
    /// Embed with the BERT-family model of this folder, not with the built-in table
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Rerank with the cross-encoder or the embedding model of this folder
    #[arg(long, value_name = "FOLDER")]
    rerank: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum MethodArg {
    Keyword,
    Vector,
    Hybrid,
}

/// Weights are tuned on the even cases, counted from 0, and reported on the odd ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Half {
    #[value(alias = "dev")]
    Even,
    #[value(alias = "held")]
    Odd,
    All,
}

impl Half {
    /// Whether the case of that number belongs to this half.
    pub(crate) fn has(self, number: usize) -> bool {
        match self {
            Self::Even => number.is_multiple_of(2),
            Self::Odd => !number.is_multiple_of(2),
            Self::All => true,
        }
    }
}

/// Builds the corpora, asks the questions and prints the table.
pub(crate) async fn run(cases: &[Case], args: &OfflineArgs) -> anyhow::Result<()> {
    let weights = weights(&args.weights)?;
    let embedder: Box<dyn Embedder> = match &args.model {
        Some(folder) => Box::new(Cached::new(BertEmbedder::open(folder, BertSettings::default())?)),
        None => Box::new(StaticEmbedder::new()),
    };
    let embedder = embedder.as_ref();
    let opened = args.rerank.as_deref();
    let reranker = opened
        .map(|folder| providers::open_reranker(folder, BertSettings::default()))
        .transpose()?;
    let cosines = if embedder.is_instant() {
        Cosines::default()
    } else {
        let questions = embedder.embed(&QUESTIONS, EmbedPurpose::Query).await?;
        let statements = embedder.embed(&STATEMENTS, EmbedPurpose::Passage).await?;
        Cosines::of(&questions, &statements).unwrap_or_default()
    };
    let (mut measured, mut baseline) = (Measured::default(), Measured::default());
    for (number, case) in cases.iter().enumerate() {
        if !args.half.has(number) {
            continue;
        }
        let corpus = corpus(case, embedder, args.turns_only).await?;
        let bm25 = Bm25::of(case);
        for question in &case.questions {
            let mut ranking = ask(&corpus, question, embedder, cosines, args, &weights).await?;
            if let Some(reranker) = &reranker {
                let list = Shortlist::of(&ranking, &question.text, &case.owner, &Zone::utc());
                let passages: Vec<&str> = list.passages.iter().map(String::as_str).collect();
                let scores = reranker.rerank(&question.text, &passages).await?;
                list.order(&mut ranking, &scores);
            }
            let ranked: Vec<Ranked> = ranking.messages.iter().filter_map(ranked).collect();
            if args.show && args.half != Half::Odd {
                show_missed(case, question, &ranked);
            }
            measured.add(question, &ranked);
            baseline.add(question, &bm25.rank(&question.text));
        }
    }
    measured.print(Some(&baseline));
    Ok(())
}

/// The corpus that a server would have of a case.
pub(crate) async fn corpus(case: &Case, embedder: &dyn Embedder, turns_only: bool) -> anyhow::Result<Corpus> {
    let mut corpus = Corpus::default();
    for mut doc in rows(case, embedder, turns_only).await? {
        doc.vector = embedder
            .embed(&[&passage(&doc)], EmbedPurpose::Passage)
            .await?
            .pop();
        corpus.upsert(doc);
    }
    Ok(corpus)
}

/// The tuned weights with changes, each written `NAME=VALUE`.
pub(crate) fn weights(changes: &[String]) -> anyhow::Result<Weights> {
    let mut weights = Weights::default();
    for change in changes {
        let (name, value) = change
            .split_once('=')
            .with_context(|| format!("`{change}` is not NAME=VALUE"))?;
        let mut known = weights.by_name();
        let Some((_, weight)) = known.iter_mut().find(|(known, _)| *known == name) else {
            bail!(
                "there is no weight `{name}`: use one of {}",
                known.map(|(name, _)| name).join(", ")
            );
        };
        **weight = value
            .parse()
            .with_context(|| format!("`{value}` is not a number"))?;
    }
    Ok(weights)
}

/// Prints a question that misses evidence: position and beginning of each piece of evidence and of the first
/// messages.
fn show_missed(case: &Case, question: &Question, ranked: &[Ranked]) {
    let counted = |ranked: &&Ranked| ranked.is_user || !question.users_only;
    let places: BTreeMap<&MessageId, usize> = ranked
        .iter()
        .filter(counted)
        .map(|ranked| &ranked.id)
        .zip(1..)
        .collect();
    let is_found = |id: &MessageId| places.get(id).is_some_and(|place| *place <= PRINTED_DEPTH);
    if question.messages.iter().all(is_found) {
        return;
    }
    println!("? {} [{}]", question.text, question.category);
    let first: BTreeSet<&MessageId> = ranked
        .iter()
        .filter(counted)
        .take(PRINTED_FIRST)
        .map(|ranked| &ranked.id)
        .collect();
    for message in &case.messages {
        let is_evidence = question.messages.contains(&message.id);
        if is_evidence || first.contains(&message.id) {
            let place = places
                .get(&message.id)
                .map_or("none".to_owned(), usize::to_string);
            let mark = if is_evidence { '+' } else { '-' };
            let text: String = message
                .text()
                .replace('\n', " ")
                .chars()
                .take(PRINTED_CHARS)
                .collect();
            println!("  {mark} {place:>4} {text}");
        }
    }
}

async fn ask(
    corpus: &Corpus,
    question: &Question,
    embedder: &dyn Embedder,
    cosines: Cosines,
    args: &OfflineArgs,
    weights: &Weights,
) -> anyhow::Result<Ranking> {
    let vector = embedder
        .embed(&[&question.text], EmbedPurpose::Query)
        .await?
        .pop();
    let query = Query {
        text: &question.text,
        vector: vector.as_deref(),
        cosines,
        method: match args.method {
            MethodArg::Keyword => Method::Keyword,
            MethodArg::Vector => Method::Vector,
            MethodArg::Hybrid => Method::Hybrid,
        },
        filter: None,
        asked_at: question.asked_at,
        zone: &Zone::utc(),
        as_of: None,
        memories_max: 10,
        messages_max: MESSAGES_MAX,
        score_min: 0.0,
    };
    Ok(corpus.search_weighted(&query, weights))
}

fn ranked(hit: &Hit) -> Option<Ranked> {
    Some(Ranked {
        id: hit.doc.sources.first()?.clone(),
        session: hit.doc.session.clone()?,
        is_user: hit.doc.role == Some(model::Role::User),
    })
}

/// The text of a row that represents its meaning.
fn passage(doc: &Doc) -> String {
    let parts = [doc.subject.as_str(), doc.summary.as_str(), doc.text.as_str()];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// A case's rows: every turn, and the episode and facts that the rules make of each part of a session.
async fn rows(case: &Case, embedder: &dyn Embedder, turns_only: bool) -> anyhow::Result<Vec<Doc>> {
    let turn = |message: &Message| Doc::of_message(message, &case.owner);
    if turns_only {
        return Ok(case.messages.iter().map(turn).collect());
    }
    let mut docs = Vec::new();
    let mut known = KnownFacts::default();
    for session in case.sessions() {
        let texts: Vec<String> = session.iter().map(Message::text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = if embedder.is_instant() {
            Some(embedder.embed(&texts, EmbedPurpose::Passage).await?)
        } else {
            None
        };
        let cuts = extract::boundaries(session, vectors.as_deref(), &Limits::default());
        let mut start = 0;
        for end in cuts.iter().map(|cut| cut.end).chain([session.len()]) {
            let cell = Cell {
                id: CellId::new(format!("mc{}", docs.len())),
                session: session[0].session.clone(),
                messages: session[start..end].to_vec(),
                owners: vec![case.owner.clone()],
                reason: CutReason::Flush,
            };
            start = end;
            tell(case, &cell, &mut known, &mut docs);
        }
    }
    Ok(docs)
}

/// The rows of one part: its turns, its episode, its facts.
fn tell(case: &Case, cell: &Cell, known: &mut KnownFacts, docs: &mut Vec<Doc>) {
    let zone = Zone::utc();
    let episode = extract::episode(cell, &zone);
    let id = format!("ep_{}", cell.id);
    let parent = Some(Parent {
        kind: ParentKind::Episode,
        id: id.clone(),
    });
    for (seq, message) in (0..).zip(&cell.messages) {
        let turn = Doc::of_message(message, &case.owner);
        docs.push(Doc {
            parent: parent.clone(),
            seq,
            ..turn
        });
    }
    let entry = |id: &str, kind: EntryKind, time: Timestamp, text: String| Doc {
        key: DocKey {
            id: id.into(),
            scope: cell.session.scope.clone(),
            owner: case.owner.clone(),
        },
        kind: DocKind::Entry(kind),
        time,
        role: None,
        speaker: None,
        text,
        ..Doc::of_message(&cell.messages[0], &case.owner)
    };
    docs.push(Doc {
        subject: episode.subject,
        summary: episode.summary,
        sources: cell.messages.iter().map(|message| message.id.clone()).collect(),
        ..entry(&id, EntryKind::Episode, cell.ended(), episode.body)
    });
    for fact in extract::facts(cell, &zone) {
        let id = EntryId::new(format!("af{}", docs.len()));
        let statement = Statement::new(&fact.text, fact.said_at);
        let relations = known.supersession(&statement, |_| Counts::Yes);
        let superseded_by = relations.superseded_by.map(|(_, id)| id);
        let supersedes = relations.supersedes;
        known.insert(id.clone(), statement, supersedes.clone(), superseded_by.clone());
        docs.push(Doc {
            parent: parent.clone(),
            valid_from: fact.valid_from,
            supersedes,
            superseded_by,
            sources: fact.sources.clone(),
            ..entry(id.as_str(), EntryKind::Fact, fact.said_at, fact.text.clone())
        });
    }
}

#[cfg(test)]
mod tests {
    use recall::{QUESTIONS, STATEMENTS};

    use super::*;

    #[tokio::test]
    async fn the_usual_cosines_are_those_of_the_built_in_table() {
        let table = StaticEmbedder::new();
        let questions = table.embed(&QUESTIONS, EmbedPurpose::Query).await.unwrap();
        let statements = table.embed(&STATEMENTS, EmbedPurpose::Passage).await.unwrap();
        let measured = Cosines::of(&questions, &statements).unwrap();
        for cosine in [0.0, 0.2, 0.6] {
            let usual = measured.usual(cosine);
            assert!(
                (usual - cosine).abs() < 0.005,
                "{measured:?}: {cosine} became {usual}"
            );
        }
    }
}
