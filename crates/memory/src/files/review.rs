//! A person's review: the statements that Quipu believes of them, and the effect of their answers.
//!
//! Owns: which statements a person is asked about, and the effect of an answer on a fact, on facts in the same words
//! and on memories made of them. Never: an answer of its own, or a word of a message.
//!
//! An answer is stored in the file of the fact: a label for a confirmed fact, an end for an ended one, and for a
//! withdrawn one a mark in the place of the text.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use extract::mark;
use model::text::folded_text;
use model::{
    CONFIRMED, Doc, DocKind, ENDED, Entry, EntryId, EntryKind, MessageId, Origin, Owner, Role, SCENE, Scope,
    SessionId, Timestamp, WRONG,
};
use ports::runs::MemoryEvent;
use ports::{Edit, VaultPath};

use super::{edit, pages, removal};
use crate::base::Base;
use crate::derived;
use crate::error::EngineError;
use crate::facts::{IS_WRONG, answered_at, end, withdraw};
use crate::searching::list;

/// Maximum number of a person's newest messages that are read for statements in doubt.
const MESSAGES_READ_MAX: usize = 2_000;

/// A person's answer about a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is true: a fact, and with the next run a line of core memory.
    Keep,
    /// It was never true. Its text is removed from the facts and from all memories made of them; the message stays.
    Wrong,
    /// It was said in a scene, like everything else in its session. In other sessions the answer withdraws this
    /// statement alone: others can be true there in the same words.
    Scene,
    /// It was true and is no longer.
    Ended,
}

/// State of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Belief {
    /// A fact that nobody confirmed.
    Fact,
    /// A statement that its person withdrew and has said since. It is no fact.
    Again,
    /// A statement in a message that may not be the person's own words, as in a paste. It is no fact.
    Doubt,
    /// A fact that its person confirmed.
    Confirmed,
    /// A fact that has ended, or that another fact superseded.
    Ended,
    /// A withdrawn statement, in the words of a message: wrong, or of a scene.
    Withdrawn,
}

impl Belief {
    /// Whether its person has not answered yet.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Fact | Self::Again | Self::Doubt)
    }
}

/// A statement that a person is asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct Believed {
    pub id: EntryId,
    pub belief: Belief,
    pub text: String,
    pub session: Option<SessionId>,
    pub said_at: Timestamp,
    pub sources: Vec<MessageId>,
}

/// Changes by an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reviewed {
    /// The statements, the facts among them first.
    pub statements: Vec<String>,
    /// Memories that were made of them and were removed.
    pub derived: usize,
}

/// The statements that Quipu believes of a person, in the order of [`Belief`], newest first in each group.
pub(crate) async fn review(base: &Base, scope: &Scope, owner: &Owner) -> Result<Vec<Believed>, EngineError> {
    base.answering().await?;
    let rows = base.corpora.all(scope, owner).await?;
    Ok(believed(&rows, owner, base.parts.clock.now()))
}

pub(crate) async fn answer(
    base: &Base,
    scope: &Scope,
    owner: &Owner,
    id: &EntryId,
    verdict: Verdict,
) -> Result<Reviewed, EngineError> {
    base.answering().await?;
    let _alone = base.alone_in(scope).await;
    let rows = base.corpora.all(scope, owner).await?;
    let now = base.parts.clock.now();
    let (asked, others) = asked(&rows, owner, id, now)?;
    if (asked.belief, verdict) == (Belief::Withdrawn, Verdict::Wrong) {
        return Ok(Reviewed::default());
    }
    let is_of_scene = |doc: &Doc| asked.is_of_scene(doc, verdict);
    let meant = meant(&rows, &asked, id, verdict);
    let judged = Judged {
        verdict,
        now,
        saying: saying(&rows, owner, &asked.text),
        session: asked.session.clone(),
    };
    let judge = |mut entry: Entry| {
        judged.judge(&mut entry);
        Edit::Replace(Box::new(entry))
    };
    let mut paths = change(base, &meant, judge).await?;
    if verdict == Verdict::Keep {
        paths.extend(unsupersede(base, &rows, &meant).await?);
    }
    let mut reviewed = Reviewed {
        statements: meant.iter().map(|doc| doc.text.clone()).collect(),
        derived: 0,
    };
    let is_fact = meant.iter().any(|doc| *doc.key.id == *asked.id.as_str());
    // The other statements of the scene are withdrawn too, so that they are recognised in other sessions.
    let is_beside = |one: &&Believed| {
        verdict == Verdict::Scene && one.session == asked.session && one.belief != Belief::Withdrawn
    };
    let statements = Some(&asked).filter(|_| !is_fact);
    for one in statements.into_iter().chain(others.iter().filter(is_beside)) {
        if matches!(one.belief, Belief::Doubt | Belief::Again | Belief::Withdrawn) {
            paths.extend(make_fact(base, one, (scope, owner), &rows, &judged).await?);
            reviewed.statements.push(one.text.clone());
        }
    }
    if verdict != Verdict::Keep {
        let rows: Vec<&Doc> = rows.iter().map(|doc| &**doc).collect();
        let mut gone: BTreeSet<&str> = meant.iter().map(|doc| &*doc.key.id).collect();
        let going = made_of(&rows, &gone, is_of_scene);
        gone.extend(going.iter().map(|doc| &*doc.key.id));
        reviewed.derived = going.len();
        paths.extend(removal::remove(base, (scope, owner), &going).await?);
        pages::forget(base, (scope, owner), &rows, &gone).await?;
    }
    edit::follow(base, paths).await?;
    let (scope, owner) = (scope.clone(), owner.clone());
    let answered = vec![MemoryEvent::Reviewed { scope, owner }];
    base.parts.events.emit(answered).await?;
    Ok(reviewed)
}

impl Believed {
    /// Whether a row belongs to the scene that an answer withdraws.
    fn is_of_scene(&self, doc: &Doc, verdict: Verdict) -> bool {
        verdict == Verdict::Scene && doc.session.is_some() && doc.session == self.session
    }
}

/// The facts that an answer is about: the one with the id, those in the same words, and those of a scene.
fn meant<'a>(rows: &'a [Arc<Doc>], asked: &Believed, id: &EntryId, verdict: Verdict) -> Vec<&'a Doc> {
    let is_of_scene = |doc: &Doc| asked.is_of_scene(doc, verdict);
    let words = folded_text(&asked.text);
    let is_meant = |doc: &&Arc<Doc>| {
        let is_same = || folded_text(&doc.text) == words;
        is_open(doc)
            && match (verdict, asked.belief) {
                (Verdict::Keep, belief) => {
                    let has_ended = belief == Belief::Ended && doc.valid_until.is_some();
                    *doc.key.id == *id.as_str() || has_ended && is_same()
                }
                _ => is_of_scene(doc) || is_same(),
            }
    };
    rows.iter().filter(is_meant).map(|doc| &**doc).collect()
}

/// Makes later facts no longer supersede these kept ones, so that both hold.
async fn unsupersede(
    base: &Base,
    rows: &[Arc<Doc>],
    kept: &[&Doc],
) -> Result<BTreeSet<VaultPath>, EngineError> {
    let is_kept = |id: &EntryId| kept.iter().any(|doc| *doc.key.id == *id.as_str());
    let later = rows.iter().filter(|doc| doc.supersedes.iter().any(is_kept));
    let later: Vec<&Doc> = later.map(|doc| &**doc).collect();
    let beside = |mut entry: Entry| {
        entry.supersedes.retain(|id| !is_kept(id));
        Edit::Replace(Box::new(entry))
    };
    change(base, &later, beside).await
}

/// Writes a statement that was no fact, with the answer. If the answer says that it was true, its marks are removed.
async fn make_fact(
    base: &Base,
    asked: &Believed,
    whose: (&Scope, &Owner),
    rows: &[Arc<Doc>],
    judged: &Judged,
) -> Result<BTreeSet<VaultPath>, EngineError> {
    let mut entry = of_statement(asked, whose, rows);
    judged.judge(&mut entry);
    let written = base.parts.vault_writer.append(&[entry], false).await?;
    let mut paths: BTreeSet<VaultPath> = written.into_iter().map(|written| written.stat.path).collect();
    if matches!(judged.verdict, Verdict::Keep | Verdict::Ended) {
        let mark = mark(&asked.text);
        let marks = rows.iter().filter(|doc| doc.mark() == Some(&mark));
        let marks: Vec<&Doc> = marks.map(|doc| &**doc).collect();
        paths.extend(change(base, &marks, |entry| Edit::Remove(entry.id)).await?);
    }
    Ok(paths)
}

/// The statement with an id of the review, and all others. A withdrawn statement is found by the id of its fact, too.
fn asked(
    rows: &[Arc<Doc>],
    owner: &Owner,
    id: &EntryId,
    now: Timestamp,
) -> Result<(Believed, Vec<Believed>), EngineError> {
    let row = rows.iter().find(|doc| *doc.key.id == *id.as_str());
    let marked = row.and_then(|doc| doc.mark()).map(id_of);
    let id = marked.unwrap_or_else(|| id.clone());
    let mut all = believed(rows, owner, now);
    let at = all.iter().position(|one| one.id == id);
    let at = at.ok_or_else(|| match row.map(|doc| doc.kind) {
        Some(DocKind::Entry(kind)) if kind != EntryKind::Fact => EngineError::Invalid(format!(
            "`{id}` is not a fact: only facts have answers; forget it instead, as `quipu forget {id} --user {}` does",
            owner.id
        )),
        _ => EngineError::not_found("statement to review", &id),
    })?;
    Ok((all.swap_remove(at), all))
}

/// Memories made of removed facts: those that cite them, and profile statements that repeat words of no remaining fact,
/// even if made of another message; for a scene, its upcoming events too.
fn made_of<'a>(rows: &[&'a Doc], gone: &BTreeSet<&str>, is_of_scene: impl Fn(&Doc) -> bool) -> Vec<&'a Doc> {
    let mut going = derived::going_with(rows, gone);
    let facts = rows.iter().filter(|doc| is_open(doc));
    let (taken, left): (Vec<&&Doc>, Vec<&&Doc>) = facts.partition(|doc| gone.contains(&*doc.key.id));
    let words =
        |facts: &[&&Doc]| -> BTreeSet<String> { facts.iter().map(|doc| folded_text(&doc.text)).collect() };
    let (taken, left) = (words(&taken), words(&left));
    let goes = |doc: &&&Doc| match doc.kind {
        DocKind::Entry(EntryKind::Profile) => {
            let words = folded_text(&doc.text);
            taken.contains(&words) && !left.contains(&words)
        }
        DocKind::Entry(EntryKind::Foresight) => is_of_scene(doc),
        _ => false,
    };
    let more = rows.iter().filter(goes).copied();
    let more: Vec<&Doc> = more.filter(|doc| !going.contains(doc)).collect();
    going.extend(more);
    going
}

/// Changes facts in their files.
async fn change(
    base: &Base,
    meant: &[&Doc],
    edit: impl Fn(Entry) -> Edit,
) -> Result<BTreeSet<VaultPath>, EngineError> {
    let mut ids: BTreeMap<&VaultPath, BTreeSet<&str>> = BTreeMap::new();
    for doc in meant {
        ids.entry(&doc.path).or_default().insert(&doc.key.id);
    }
    let mut paths = BTreeSet::new();
    for (path, ids) in ids {
        let file = base.parts.vault.read(path).await?;
        let standing = file.into_iter().flat_map(|file| file.entries);
        let standing = standing.map(|read| read.entry);
        let meant = standing.filter(|entry| ids.contains(entry.id.as_str()));
        let edits: Vec<Edit> = meant.map(&edit).collect();
        base.parts.vault_writer.edit(path, &edits).await?;
        paths.insert(path.clone());
    }
    Ok(paths)
}

/// An answer, with the properties of the statement that it needs.
struct Judged {
    verdict: Verdict,
    now: Timestamp,
    /// The person's messages that say the same.
    saying: Vec<MessageId>,
    /// Where the statement was said.
    session: Option<SessionId>,
}

impl Judged {
    /// Applies the answer to a fact.
    fn judge(&self, entry: &mut Entry) {
        if entry.sources.iter().any(|source| self.saying.contains(source)) {
            let others = self.saying.iter().filter(|id| !entry.sources.contains(id));
            let others: Vec<MessageId> = others.cloned().collect();
            entry.sources.extend(others);
        }
        entry.labels.retain(|label| label != CONFIRMED && label != ENDED);
        let is = match self.verdict {
            Verdict::Keep => {
                entry.labels.push(CONFIRMED.to_owned());
                (entry.valid_until, entry.superseded_by) = (None, None);
                return;
            }
            Verdict::Ended => {
                end(entry, self.now);
                return;
            }
            Verdict::Wrong => IS_WRONG,
            // The same words in another session do not make a scene of that session.
            Verdict::Scene if entry.session == self.session => (SCENE, "You said that this was a scene."),
            Verdict::Scene => (WRONG, "You said that this was a scene."),
        };
        withdraw(entry, is, self.now);
    }
}

/// The person's messages that say a statement in the same words.
fn saying(rows: &[Arc<Doc>], owner: &Owner, text: &str) -> Vec<MessageId> {
    let words = folded_text(text);
    let says = |turn: &&&Arc<Doc>| statements(turn).iter().any(|one| folded_text(one) == words);
    let saying = own_turns(rows, owner);
    let sources = saying.iter().filter(says).flat_map(|turn| &turn.sources);
    sources.cloned().collect()
}

/// A person's newest messages.
fn own_turns<'a>(rows: &'a [Arc<Doc>], owner: &Owner) -> Vec<&'a Arc<Doc>> {
    let is_own = |doc: &&Arc<Doc>| {
        doc.kind == DocKind::Turn && doc.role == Some(Role::User) && doc.senders.contains(&owner.id)
    };
    let mut own: Vec<&Arc<Doc>> = rows.iter().filter(is_own).collect();
    own.sort_by_key(|doc| Reverse((doc.time, doc.key.id.clone())));
    own.truncate(MESSAGES_READ_MAX);
    own
}

fn statements(turn: &Doc) -> Vec<String> {
    extract::statements(&turn.text, turn.speaker.as_deref().unwrap_or_default())
}

/// The fact for a statement that is none yet, under an id that no row has.
fn of_statement(asked: &Believed, (scope, owner): (&Scope, &Owner), rows: &[Arc<Doc>]) -> Entry {
    let mut id = asked.id.clone();
    for again in 1.. {
        if !rows.iter().any(|doc| *doc.key.id == *id.as_str()) {
            break;
        }
        id = EntryId::new(format!("{}_{again}", asked.id));
    }
    let whose = (scope.clone(), owner.clone());
    Entry {
        session: asked.session.clone(),
        sources: asked.sources.clone(),
        senders: vec![owner.id.clone()],
        body: asked.text.clone(),
        ..Entry::new(id, EntryKind::Fact, whose, asked.said_at, Origin::User)
    }
}

fn believed(rows: &[Arc<Doc>], owner: &Owner, now: Timestamp) -> Vec<Believed> {
    let superseders = list::superseders(rows);
    let facts = rows.iter().filter(|doc| is_open(doc));
    let scenes = list::scenes(rows);
    let mut all: Vec<Believed> = facts
        .map(|doc| Believed {
            id: EntryId::new(doc.key.id.clone()),
            belief: match doc.valid_until {
                _ if superseders.contains_key(&*doc.key.id) => Belief::Ended,
                Some(until) if until <= now => Belief::Ended,
                _ if doc.is_confirmed() => Belief::Confirmed,
                _ => Belief::Fact,
            },
            text: doc.text.clone(),
            session: doc.session.clone(),
            said_at: doc.time,
            sources: doc.sources.clone(),
        })
        .collect();
    all.extend(statements_of(rows, owner));
    // Later statements of a scene belong to the scene.
    for one in &mut all {
        if one.belief.is_open() && one.session.as_ref().is_some_and(|id| scenes.contains(id)) {
            one.belief = Belief::Withdrawn;
        }
    }
    all.sort_by(|a, b| (a.belief, Reverse(a.said_at), &a.id).cmp(&(b.belief, Reverse(b.said_at), &b.id)));
    all
}

/// The statements of a person's messages that are no facts: unanswered ones and withdrawn ones.
fn statements_of(rows: &[Arc<Doc>], owner: &Owner) -> Vec<Believed> {
    let (mut known, mut answered) = (BTreeSet::new(), BTreeMap::new());
    for fact in rows.iter().filter(|doc| doc.is_fact()) {
        match fact.mark() {
            Some(mark) => {
                let at = answered.entry(mark).or_insert(answered_at(fact));
                *at = answered_at(fact).max(*at);
            }
            None => {
                known.insert(folded_text(&fact.text));
            }
        }
    }
    let mut all = Vec::new();
    for turn in own_turns(rows, owner) {
        for text in statements(turn) {
            if !known.insert(folded_text(&text)) {
                continue;
            }
            let mark = mark(&text);
            all.push(Believed {
                id: id_of(&mark),
                belief: match answered.get(&*mark) {
                    None => Belief::Doubt,
                    Some(at) if *at < turn.time => Belief::Again,
                    Some(_) => Belief::Withdrawn,
                },
                text,
                session: turn.session.clone(),
                said_at: turn.time,
                sources: turn.sources.clone(),
            });
        }
    }
    all
}

/// The id of a statement that is no fact.
fn id_of(mark: &str) -> EntryId {
    EntryId::new(format!("{}_{mark}", EntryKind::Fact.prefix()))
}

/// Whether a row is a fact that a person can be asked about.
fn is_open(doc: &Doc) -> bool {
    doc.is_fact() && !doc.is_withdrawn() && !doc.is_version()
}
