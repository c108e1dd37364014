//! Extraction by a chat model, or by the rules alone, from talks that were marked by hand.
//!
//! Owns: the score and its report. Never: a prompt or a check (the product and this command use those of
//! `extract`).
//!
//! These talks are for the report only: do not make rules from them. For rules, use `facts`.

mod endpoint;
mod marked;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use extract::{Counts, Doubt, Dropped, Fact, Interview, KnownFacts, Limits, Statement, Tail};
use model::{Cell, EntryId, Zone};

use crate::row;
use endpoint::Endpoint;
use marked::{Mark, Marked};

#[derive(Debug, clap::Args)]
pub(crate) struct ExtractArgs {
    /// Base URL of an OpenAI-compatible server, as in `http://127.0.0.1:11434/v1`; without it the rules extract
    #[arg(long, requires = "model")]
    base_url: Option<String>,
    /// Name of the model
    #[arg(long, requires = "base_url")]
    model: Option<String>,
    /// The server's API key, if it has one
    #[arg(long)]
    api_key: Option<String>,
    /// Only the talks with these ids
    #[arg(long, value_name = "ID")]
    talk: Vec<String>,
}

/// Extracts from every talk and prints the mistakes and the score.
pub(crate) async fn run(args: &ExtractArgs) -> anyhow::Result<()> {
    let model = match (&args.base_url, &args.model) {
        (Some(url), Some(name)) => Some(Endpoint::new(url, name, args.api_key.clone())?),
        _ => None,
    };
    let mut talks = marked::talks()?;
    talks.retain(|talk| args.talk.is_empty() || args.talk.contains(&talk.id));
    let score = scored(&talks, model.as_ref(), true).await?;
    score.print();
    if model.is_some() {
        let rules = scored(&talks, None, false).await?;
        println!("\n{}", score.verdict(&rules));
    }
    Ok(())
}

async fn scored(talks: &[Marked], model: Option<&Endpoint>, is_told: bool) -> anyhow::Result<Score> {
    let mut score = Score::default();
    for talk in talks {
        let cell = talk.cell()?;
        let extracted = match model {
            Some(model) => by_model(model, &cell).await?,
            None => by_rules(&cell),
        };
        let before = score.failures.len();
        score.add(talk, &extracted);
        // A local model takes minutes, so mistakes are printed at once.
        for line in score.failures[before..].iter().filter(|_| is_told) {
            println!("{line}");
        }
    }
    Ok(score)
}

/// The extraction from one talk.
#[derive(Debug, Default)]
struct Extracted {
    facts: Vec<Fact>,
    /// Ends of all parts but the last.
    cuts: Vec<usize>,
    dropped: Vec<Dropped>,
    /// Why no answer was usable.
    unusable: Option<String>,
}

/// The facts that memory writes with a model: those of the rules, and those that the model adds.
async fn by_model(model: &Endpoint, cell: &Cell) -> anyhow::Result<Extracted> {
    let zone = Zone::utc();
    let mut extracted = by_rules(cell);
    match model
        .ask(Interview::parts(&cell.messages, &zone, Tail::Closed))
        .await?
    {
        Ok(answer) => {
            extracted.cuts = answer.parts.iter().map(|part| part.end).collect();
            extracted.cuts.pop();
            extracted.dropped = answer.dropped;
        }
        Err(problem) => extracted.unusable = Some(problem.to_string()),
    }
    let Some(question) = Interview::facts(&cell.messages, &extracted.facts) else {
        return Ok(extracted);
    };
    match model.ask(question).await? {
        Ok(answer) => {
            let facts = answer.facts.into_iter();
            let new: Vec<Fact> = facts
                .filter(|fact| !extract::is_covered(fact, &extracted.facts))
                .collect();
            extracted.facts.extend(new);
            extracted.dropped.extend(answer.dropped);
        }
        Err(problem) => extracted.unusable = Some(problem.to_string()),
    }
    Ok(extracted)
}

fn by_rules(cell: &Cell) -> Extracted {
    let cuts = extract::boundaries(&cell.messages, None, &Limits::default());
    Extracted {
        facts: extract::facts(cell, &Zone::utc()),
        cuts: cuts.into_iter().map(|boundary| boundary.end).collect(),
        ..Extracted::default()
    }
}

/// The facts that memory still considers current after all messages.
fn current(facts: &[Fact]) -> Vec<&str> {
    let mut known = KnownFacts::default();
    let mut standing: BTreeMap<EntryId, &str> = BTreeMap::new();
    for (number, fact) in facts.iter().enumerate() {
        let statement = Statement::new(&fact.text, fact.said_at);
        if known.repeats(&statement, |_| Counts::Yes) {
            continue;
        }
        let relations = known.supersession(&statement, |_| Counts::Yes);
        for old in &relations.supersedes {
            standing.remove(old);
        }
        let id = EntryId::new(format!("af_{number:04}"));
        let superseded_by = relations.superseded_by.map(|(_, id)| id);
        if superseded_by.is_none() {
            standing.insert(id.clone(), &fact.text);
        }
        known.insert(id, statement, relations.supersedes, superseded_by);
    }
    standing.into_values().collect()
}

/// How many of how many are right.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Share {
    right: usize,
    of: usize,
}

impl Share {
    fn count(&mut self, is_right: bool) {
        self.of += 1;
        self.right += usize::from(is_right);
    }
}

/// The sum over all talks, and a line for each failure.
#[derive(Debug, Default)]
struct Score {
    remembered: Share,
    right: Share,
    kept_out: Share,
    gone: Share,
    cut: Share,
    usable: Share,
    /// Statements that the checks dropped, by kind of doubt.
    dropped: BTreeMap<&'static str, usize>,
    failures: Vec<String>,
}

impl Score {
    fn add(&mut self, talk: &Marked, extracted: &Extracted) {
        let mut wrong: Vec<String> = Vec::new();
        self.usable.count(extracted.unusable.is_none());
        wrong.extend(
            extracted
                .unusable
                .iter()
                .map(|problem| format!("no usable answer: {problem}")),
        );
        let standing = current(&extracted.facts);
        let says = |facts: &[&str], mark: &Mark| facts.iter().any(|fact| mark.is_in(fact));
        for mark in &talk.find {
            let is_found = says(&standing, mark);
            self.remembered.count(is_found);
            if !is_found {
                wrong.push(format!("not remembered: {}", mark.text()));
            }
        }
        let all: Vec<&str> = extracted.facts.iter().map(|fact| fact.text.as_str()).collect();
        for mark in &talk.never {
            self.kept_out.count(!says(&all, mark));
        }
        for mark in &talk.over {
            let is_gone = !says(&standing, mark);
            self.gone.count(is_gone);
            if !is_gone {
                wrong.push(format!("still stands: {}", mark.text()));
            }
        }
        for fact in &all {
            let any = |marks: &[Mark]| marks.iter().any(|mark| mark.is_in(fact));
            let is_false = any(&talk.never);
            let is_marked = any(&talk.find) || any(&talk.may) || any(&talk.over);
            self.right.count(is_marked && !is_false);
            match (is_false, is_marked) {
                (true, _) => wrong.push(format!("claims: {fact}")),
                (false, false) => wrong.push(format!("not marked, judge it yourself: {fact}")),
                (false, true) => {}
            }
        }
        if let Some(cuts) = &talk.cuts {
            let is_right = *cuts == extracted.cuts;
            self.cut.count(is_right);
            if !is_right {
                wrong.push(format!("cut after {:?}, not after {cuts:?}", extracted.cuts));
            }
        }
        for Dropped { text, why } in &extracted.dropped {
            *self.dropped.entry(kind(why)).or_default() += 1;
            wrong.push(format!("left out: {text} ({why})"));
        }
        if !wrong.is_empty() {
            self.failures.push(format!("{} ({})", talk.id, talk.language));
            self.failures
                .extend(wrong.into_iter().map(|line| format!("    {line}")));
        }
    }

    /// Whether the model remembers more marks than the rules alone, without more facts that no mark allows.
    fn adds_to(&self, rules: &Self) -> bool {
        let wrong = |score: &Self| score.right.of - score.right.right;
        self.remembered.right > rules.remembered.right && wrong(self) <= wrong(rules)
    }

    fn verdict(&self, rules: &Self) -> String {
        let of = |score: &Self| (score.remembered.right, score.right.right, score.right.of);
        let ((more, right, all), (less, ruled, of_ruled)) = (of(self), of(rules));
        let is = if self.adds_to(rules) {
            "good enough: it adds to the rules"
        } else {
            "not good enough: leave it out, the rules stay"
        };
        format!(
            "remembered {more} (the rules alone {less}); facts right {right} of {all} (the rules alone {ruled} of {of_ruled}); {is}"
        )
    }

    fn rows(&self) -> [(&'static str, Share); 6] {
        [
            ("what must be remembered, and is", self.remembered),
            ("facts given, and marked as right", self.right),
            ("what must not be claimed, and is not", self.kept_out),
            ("what was overtaken, and no longer stands", self.gone),
            ("talks cut where the subject changes", self.cut),
            ("talks with a usable answer", self.usable),
        ]
    }

    fn print(&self) {
        println!();
        row(&["", "right", "of", "share"].map(str::to_owned));
        row(&["---", "--:", "--:", "--:"].map(str::to_owned));
        for (what, Share { right, of }) in self.rows() {
            let percent = (right * 100).checked_div(of);
            let share = percent.map_or_else(String::new, |percent| format!("{percent} %"));
            row(&[what.to_owned(), right.to_string(), of.to_string(), share]);
        }
        let dropped: usize = self.dropped.values().sum();
        println!("\nleft out by the checks: {dropped}");
        for (kind, count) in &self.dropped {
            println!("    {count} {kind}");
        }
    }
}

/// A doubt without the words in question.
fn kind(doubt: &Doubt) -> &'static str {
    match doubt {
        Doubt::Form => "not one short sentence",
        Doubt::Secret => "secret",
        Doubt::Unsaid(_) => "with a word that nobody said",
        Doubt::Subject => "about nobody who was named",
        Doubt::Sense => "denied, or over",
    }
}
