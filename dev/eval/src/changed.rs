//! Changed facts: whether a question finds the current value before the old one, and the old one as of its
//! time.
//!
//! Owns: the pairs written for it (`changed/*.txt`), their corpora and the tables. Never: making rows
//! (`offline`). Each pair has a
//! corpus of its own, with sittings of other pairs of the same set and half about other matters.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::ValueEnum;
use model::{Role, Timestamp, Zone};
use ports::{EmbedPurpose, Embedder};
use providers::StaticEmbedder;
use recall::{Corpus, Cosines, Hit, Method, Query, Ranking, Weights};

use crate::cases::{Case, CaseMessage, PACE_MS};
use crate::{offline, row};

/// Number of other pairs with sittings in the corpus of a pair.
const OTHERS: usize = 24;
/// A message or memory after this many hits counts as not found.
const FOUND_MAX: usize = 10;
const ASKED_ON: &str = "2026-03-01";

#[derive(Debug, clap::Args)]
pub(crate) struct ChangedArgs {
    /// Changes told plainly, so that a listener has to conclude them, or by a stranger to both
    #[arg(long, value_enum, default_value = "all")]
    set: Set,
    /// Read the sets from `SET_changes.txt` and `SET_both_true.txt` of this folder, not from those of this command
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Which pairs: rules and weights are made looking at the odd ones
    #[arg(long, value_enum, default_value = "both")]
    half: Half,
    /// Print the score of the even pairs, but not which of them fail
    #[arg(long)]
    veiled: bool,
    /// A weight other than the default, as in `near=1.2`; may be repeated
    #[arg(long = "weight", value_name = "NAME=VALUE")]
    weights: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Set {
    Natural,
    Veiled,
    Plain,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Half {
    Odd,
    Even,
    Both,
}

/// The result that a question about a pair must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// The newer value first; as of a time before it, the older one.
    Newer { as_of: Timestamp },
    /// Both.
    Both,
    /// The older value first: the newer statement is about something else.
    Older,
}

#[derive(Debug)]
struct Pair {
    id: &'static str,
    matter: &'static str,
    wanted: Wanted,
    question: &'static str,
    older: Sitting,
    newer: Sitting,
}

/// One sitting, and the words in it that state the value.
#[derive(Debug)]
struct Sitting {
    session: String,
    start: Timestamp,
    value: &'static str,
    turns: Vec<(Role, &'static str)>,
}

/// Position of each value among the hits, from 0, if found; printed from 1.
#[derive(Debug, Clone, Copy)]
struct Places {
    older: Option<usize>,
    newer: Option<usize>,
}

impl std::fmt::Display for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |place: Option<usize>| place.map_or("–".to_owned(), |place| (place + 1).to_string());
        write!(f, "({} {})", shown(self.older), shown(self.newer))
    }
}

/// Each set: its name, its changes, and its pairs in which both statements are true.
const SETS: [(Set, &str, &str, &str); 3] = [
    (
        Set::Natural,
        "natural",
        include_str!("changed/natural_changes.txt"),
        include_str!("changed/natural_both_true.txt"),
    ),
    (
        Set::Veiled,
        "veiled",
        include_str!("changed/veiled_changes.txt"),
        include_str!("changed/veiled_both_true.txt"),
    ),
    (
        Set::Plain,
        "plain",
        include_str!("changed/plain_changes.txt"),
        include_str!("changed/plain_both_true.txt"),
    ),
];

/// Asks every pair and prints a table for each half of each set.
pub(crate) async fn run(args: &ChangedArgs) -> anyhow::Result<()> {
    let weights = offline::weights(&args.weights)?;
    for (set, name, changes, both_true) in SETS {
        if args.set != Set::All && args.set != set {
            continue;
        }
        let mut pairs = Vec::new();
        for (kind, own) in [("changes", changes), ("both_true", both_true)] {
            pairs.extend(match &args.folder {
                Some(folder) => {
                    let path = folder.join(format!("{name}_{kind}.txt"));
                    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                    // The pairs borrow from the text until the command ends.
                    read(text.leak())?
                }
                None => read(own)?,
            });
        }
        let (odd, even): (Vec<Pair>, Vec<Pair>) = pairs.into_iter().partition(Pair::is_odd);
        for (half, which, pairs) in [(Half::Odd, "odd", odd), (Half::Even, "even", even)] {
            if args.half != Half::Both && args.half != half {
                continue;
            }
            let mut counts = Counts::default();
            for at in 0..pairs.len() {
                counts.add(&pairs[at], &Asked::of(&pairs, at, &weights).await?);
            }
            counts.print(&format!("{name}, {which}"), half == Half::Even && args.veiled);
        }
    }
    Ok(())
}

impl Pair {
    fn is_odd(&self) -> bool {
        self.id.ends_with(['1', '3', '5', '7', '9'])
    }
}

/// Reads pairs: a head after `=`, then a date and turns, twice.
fn read(text: &'static str) -> anyhow::Result<Vec<Pair>> {
    let blocks = text.split("\n= ").skip(1);
    blocks
        .map(|block| pair(block).with_context(|| format!("a pair that cannot be read: {block}")))
        .collect()
}

fn pair(block: &'static str) -> anyhow::Result<Pair> {
    let mut lines = block.lines();
    let head: Vec<&str> = lines.next().context("a head")?.split(" | ").collect();
    let [id, matter, wanted, question, older, newer] = head[..] else {
        bail!("a head has six parts");
    };
    let mut sittings: Vec<(Timestamp, Vec<(Role, &str)>)> = Vec::new();
    for line in lines {
        match (line.split_once(' '), sittings.last_mut()) {
            (Some(("U", text)), Some((_, turns))) => turns.push((Role::User, text)),
            (Some(("A", text)), Some((_, turns))) => turns.push((Role::Assistant, text)),
            _ => sittings.push((morning(line)?, Vec::new())),
        }
    }
    let mut sittings = sittings.into_iter();
    let mut sitting = |age: &str, value: &'static str| {
        let (start, turns) = sittings.next().context("two sittings")?;
        let is_told = turns.iter().any(|(_, text)| tells(text, value));
        anyhow::ensure!(is_told, "`{value}` is not told");
        Ok(Sitting {
            session: format!("{id}-{age}"),
            start,
            value,
            turns,
        })
    };
    Ok(Pair {
        id,
        matter,
        wanted: match wanted {
            "both" => Wanted::Both,
            "older" => Wanted::Older,
            date => Wanted::Newer {
                as_of: morning(date)?,
            },
        },
        question,
        older: sitting("older", older)?,
        newer: sitting("newer", newer)?,
    })
}

fn morning(date: &str) -> anyhow::Result<Timestamp> {
    Ok(Zone::utc().parse(&format!("{date}T09:00:00"))?)
}

fn tells(text: &str, value: &str) -> bool {
    text.to_lowercase().contains(&value.to_lowercase())
}

/// The results of the questions about a pair.
#[derive(Debug)]
struct Asked {
    /// Among messages, and among memories.
    now: [Places; 2],
    then: Option<[Places; 2]>,
    is_superseded: bool,
    /// The older value in a corpus without the newer one.
    unchanged: Unchanged,
}

#[derive(Debug)]
struct Unchanged {
    place: Option<usize>,
    /// A message before it has the same score, so it was taken for its update.
    is_taken: bool,
    /// It is marked as superseded.
    is_marked: bool,
}

impl Asked {
    async fn of(pairs: &[Pair], at: usize, weights: &Weights) -> anyhow::Result<Self> {
        let embedder = StaticEmbedder::new();
        let pair = &pairs[at];
        let corpus = offline::corpus(&case(pairs, at)?, &embedder, false).await?;
        let vector = embedder.embed(&[pair.question], EmbedPurpose::Query).await?.pop();
        let ask = |corpus: &Corpus, as_of: Option<Timestamp>| {
            let query = Query {
                text: pair.question,
                vector: vector.as_deref(),
                cosines: Cosines::default(),
                method: Method::Hybrid,
                filter: None,
                asked_at: morning(ASKED_ON)?,
                zone: &Zone::utc(),
                as_of,
                memories_max: FOUND_MAX,
                messages_max: FOUND_MAX,
                score_min: 0.0,
            };
            anyhow::Ok(corpus.search_weighted(&query, weights))
        };
        let then = match pair.wanted {
            Wanted::Newer { as_of } => Some(pair.places(&ask(&corpus, Some(as_of))?)),
            _ => None,
        };
        let mut without = case(pairs, at)?;
        without
            .messages
            .retain(|message| message.session.session.as_str() != pair.newer.session);
        let without = offline::corpus(&without, &embedder, false).await?;
        Ok(Self {
            now: pair.places(&ask(&corpus, None)?),
            then,
            is_superseded: pair.is_superseded(&corpus),
            unchanged: pair.unchanged(&ask(&without, None)?),
        })
    }
}

/// The sittings of a pair and of the next pairs about other matters, in order of time.
fn case(pairs: &[Pair], at: usize) -> anyhow::Result<Case> {
    let own = &pairs[at];
    let others = pairs.iter().cycle().skip(at + 1).take(pairs.len() - 1);
    let others = others.filter(|other| other.matter != own.matter).take(OTHERS);
    let mut sittings: Vec<&Sitting> = std::iter::once(own)
        .chain(others)
        .flat_map(|pair| [&pair.older, &pair.newer])
        .collect();
    sittings.sort_by_key(|sitting| (sitting.start, &sitting.session));
    let mut case = Case::new("Ana")?;
    for sitting in sittings {
        for (pace, (role, text)) in (0..).zip(&sitting.turns) {
            let speaker = if *role == Role::User { "Ana" } else { "Assistant" };
            let said = CaseMessage {
                id: &format!("{}-{pace}", sitting.session),
                session: &sitting.session,
                speaker,
                role: *role,
                time: sitting.start.plus_millis(pace * PACE_MS),
                text: (*text).to_owned(),
            };
            case.say(own.id, said)?;
        }
    }
    Ok(case)
}

impl Sitting {
    fn is_stated_in(&self, hit: &Hit) -> bool {
        let doc = &hit.doc;
        let own = doc.session.as_ref().is_some_and(|of| of.as_str() == self.session);
        let mut texts = [&doc.text, &doc.subject, &doc.summary].into_iter();
        own && texts.any(|text| tells(text, self.value))
    }
}

impl Pair {
    fn places(&self, ranking: &Ranking) -> [Places; 2] {
        [&ranking.messages, &ranking.memories].map(|hits| Places {
            older: hits.iter().position(|hit| self.older.is_stated_in(hit)),
            newer: hits.iter().position(|hit| self.newer.is_stated_in(hit)),
        })
    }

    fn unchanged(&self, ranking: &Ranking) -> Unchanged {
        let messages = &ranking.messages;
        let place = messages.iter().position(|hit| self.older.is_stated_in(hit));
        let own = place.map(|place| &messages[place]);
        let before = &messages[..place.unwrap_or(0)];
        Unchanged {
            place,
            is_taken: own.is_some_and(|own| before.iter().any(|hit| hit.score.total_cmp(&own.score).is_eq())),
            is_marked: own.is_some_and(|own| own.later.is_some()),
        }
    }

    /// Whether a fact of the newer sitting supersedes a fact of the older one.
    fn is_superseded(&self, corpus: &Corpus) -> bool {
        let is_of = |doc: &model::Doc, sitting: &Sitting| {
            doc.session
                .as_ref()
                .is_some_and(|of| of.as_str() == sitting.session)
        };
        let mut newer = corpus.iter().filter(|doc| is_of(doc, &self.newer));
        newer.any(|doc| {
            let mut olds = doc.supersedes.iter().filter_map(|id| corpus.get(id.as_str()));
            olds.any(|old| is_of(&old, &self.older))
        })
    }
}

/// Whether the first was found, and before the second.
fn before(first: Option<usize>, second: Option<usize>) -> bool {
    first.is_some_and(|first| second.is_none_or(|second| first < second))
}

/// For each check of a half: the number of right answers, and the ids of the wrong ones.
#[derive(Debug, Default)]
struct Counts {
    lines: Vec<(&'static str, usize, Vec<String>)>,
}

impl Counts {
    fn count(&mut self, what: &'static str, id: &str, is_right: bool) {
        let known = self.lines.iter().position(|line| line.0 == what);
        let at = known.unwrap_or(self.lines.len());
        if known.is_none() {
            self.lines.push((what, 0, Vec::new()));
        }
        let (_, right, wrong) = &mut self.lines[at];
        if is_right {
            *right += 1;
        } else {
            wrong.push(id.to_owned());
        }
    }

    fn add(&mut self, pair: &Pair, asked: &Asked) {
        let [messages, memories] = asked.now;
        let mut count = |what, is_right| self.count(what, pair.id, is_right);
        match pair.wanted {
            Wanted::Newer { .. } => {
                let newer = |places: Places| before(places.newer, places.older);
                count(
                    "current value first, in both lists",
                    newer(messages) && newer(memories),
                );
                self.count(
                    "… among messages",
                    &format!("{}{messages}", pair.id),
                    newer(messages),
                );
                let mut count = |what, is_right| self.count(what, pair.id, is_right);
                count("… among memories", newer(memories));
                count("current value is the first message", messages.newer == Some(0));
                count("rules: superseded", asked.is_superseded);
                let [messages, memories] = asked.then.unwrap_or(asked.now);
                let older = |places: Places| before(places.older, places.newer);
                count(
                    "as of before: old value first, in both lists",
                    older(messages) && older(memories),
                );
                count("as of before: it is the first message", messages.older == Some(0));
                let Unchanged {
                    place,
                    is_taken,
                    is_marked,
                } = asked.unchanged;
                count("never changed: old value is the first message", place == Some(0));
                count("never changed: nothing takes its place", !is_taken);
                count("never changed: not marked as earlier", !is_marked);
            }
            Wanted::Both => {
                let found = |places: Places| places.older.is_some() && places.newer.is_some();
                count(
                    "both true: both found, in both lists",
                    found(messages) && found(memories),
                );
                count("both true: not superseded", !asked.is_superseded);
            }
            Wanted::Older => {
                let older = |places: Places| before(places.older, places.newer);
                count(
                    "newer is no answer: older first, in both lists",
                    older(messages) && older(memories),
                );
                count("newer is no answer: not superseded", !asked.is_superseded);
            }
        }
    }

    fn print(&self, half: &str, veiled: bool) {
        row(&[
            format!("{half} pairs"),
            "right".into(),
            "of".into(),
            "wrong".into(),
        ]);
        row(&["---", "---", "---", "---"].map(str::to_owned));
        for (what, right, wrong) in &self.lines {
            let shown = if veiled { String::new() } else { wrong.join(" ") };
            let all = right + wrong.len();
            row(&[(*what).to_owned(), right.to_string(), all.to_string(), shown]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Pair, SETS, Wanted, read};

    #[test]
    fn each_half_has_as_many_pairs_and_every_value_is_told() {
        for (_, name, changes, both_true) in SETS {
            let changes = read(changes).expect("changes");
            let both_true = read(both_true).expect("pairs");
            let odd = |pairs: &[Pair]| pairs.iter().filter(|pair| pair.is_odd()).count();
            assert_eq!((changes.len(), odd(&changes)), (100, 50), "{name}");
            assert_eq!((both_true.len(), odd(&both_true)), (40, 20), "{name}");
            for pair in &changes {
                let Wanted::Newer { as_of } = pair.wanted else {
                    panic!("{} says when it is asked", pair.id);
                };
                assert!(
                    pair.older.start < as_of && as_of < pair.newer.start,
                    "{}",
                    pair.id
                );
            }
        }
    }
}
