//! Recalled memory for a turn.
//!
//! Owns: the query, its time limit, the injected part of core memory. Never: ranking and choosing (`recall`), the
//! wrapper (`prefix`).

use extract::{Messages, Remark, sentences};
use std::collections::BTreeSet;
use std::time::Duration;

use crate::conversation::{Endings, party};
use extract::consolidate::page;
use futures::future::join_all;
use memory::{Engine, EngineError, Found, Hit, List, Method, Search};
use model::text::terms;
use model::{EntryKind, Owner, Page, Scope, SessionId, Zone, warned};
use ports::Clock;
use prefix::fragment::{self, RecalledMemory};
use tokio::sync::oneshot;
use transcript::spoken;
use unicode_segmentation::UnicodeSegmentation;

/// Maximum time that a turn waits for memory; after that it continues without.
pub(crate) const WAIT: Duration = Duration::from_millis(50);
/// The same limit in a conversation's first turn, when the owner's memory may first have to be read from disk.
pub(crate) const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Maximum number of hits to choose from.
const MESSAGES_MAX: usize = 40;
const MEMORIES_MAX: usize = 12;
/// For a longer message, the query is its questions, its beginning and its end.
const QUERY_CHARS_MAX: usize = 600;

/// Number of episodes in the opening of a session.
const LATEST_MAX: usize = 3;
/// Their share of the opening's tokens: one in this many; core memory has the rest.
const LATEST_SHARE: usize = 3;

/// Prefix of the ids of core memory.
pub(crate) const PAGES: &str = "pages ";

/// The query, its owner, and its conversation.
#[derive(Debug, Clone)]
pub(crate) struct Asked<'a> {
    pub(crate) whose: ContextOf<'a>,
    pub(crate) here: &'a SessionId,
    /// The message, with the client's additions to it.
    pub(crate) message: &'a str,
    pub(crate) wait: Duration,
}

/// Memories that may help with a message, best first; none if the search takes too long. Such a search continues after
/// the turn, so that the rows it loads are in memory for the next turn. Excludes messages of this conversation, and of
/// its origin if it is a branch.
pub(crate) async fn recall(
    engine: &Engine,
    clock: &dyn Clock,
    endings: &Endings,
    asked: Asked<'_>,
) -> Vec<RecalledMemory> {
    let Some(search) = search(asked.whose, asked.message) else {
        return Vec::new();
    };
    let question = search.query.clone();
    let (tell, found) = oneshot::channel();
    let searching = engine.clone();
    endings.spawn(async move {
        // The turn may have ended.
        tell.send(searching.search(search).await).ok();
    });
    let found = tokio::select! {
        found = found => found,
        () = clock.sleep(asked.wait) => {
            tracing::debug!(conversation = %asked.here, "memory search timeout; the turn continues without memory");
            return Vec::new();
        }
    };
    match found.map(|found| warned!(found, "cannot search memory")) {
        Ok(Some(found)) => recalled(found, &question, asked.whose.owner, Some(asked.here), engine),
        _ => Vec::new(),
    }
}

/// Memories that may help with a message, as text for a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecalledContext {
    /// Empty if no memory is certain enough.
    pub text: String,
    /// The ids of the memories in it, in order.
    pub memories: Vec<String>,
    pub tokens: usize,
}

/// The memory that a client asks for.
#[derive(Debug, Clone, Copy)]
pub struct ContextOf<'a> {
    pub scope: &'a Scope,
    pub owner: &'a Owner,
    /// Also include messages of the owner from outside of any project, and facts that apply to the owner everywhere.
    pub with_person: bool,
}

/// The memory for a turn with this message, of at most about this many tokens, for a client that calls its model
/// itself. Excludes messages of the session `here` and memories that the model already has.
pub async fn context(
    engine: &Engine,
    whose: ContextOf<'_>,
    here: Option<&SessionId>,
    message: &str,
    known: BTreeSet<String>,
    tokens_max: usize,
) -> Result<RecalledContext, EngineError> {
    let Some(search) = search(whose, message) else {
        return Ok(RecalledContext::default());
    };
    let question = search.query.clone();
    let recalled = recalled(engine.search(search).await?, &question, whose.owner, here, engine);
    Ok(fragment_of(&recalled, known, tokens_max))
}

/// The text that opens a session: core memory, and the subjects of the latest episodes.
pub async fn opening(
    engine: &Engine,
    clock: &dyn Clock,
    whose: ContextOf<'_>,
    tokens_max: usize,
) -> Result<RecalledContext, EngineError> {
    let ContextOf { scope, owner, .. } = whose;
    let meter = context::tokens::Meter::estimate();
    let count = |text: &str| meter.roughly(text);
    let pages_max = tokens_max - tokens_max / LATEST_SHARE;
    let episodes = List {
        page_size: LATEST_MAX,
        ..List::all(scope.clone(), owner.clone(), EntryKind::Episode)
    };
    let latest = engine.list(episodes).await?;
    let core = pages(engine, clock, whose, pages_max, &count).await;
    let latest = latest.hits.into_iter().map(|Hit { doc, .. }| RecalledMemory {
        text: format!("{}, talk: {}", engine.settings().zone.date(doc.time), doc.subject),
        id: doc.key.id.to_string(),
        said_millis: Some(doc.time.millis()),
    });
    let recalled: Vec<RecalledMemory> = core.into_iter().chain(latest).collect();
    Ok(fragment_of(&recalled, BTreeSet::new(), tokens_max))
}

/// The fitting memories that the model does not have yet, in the wrapper of a turn's memory.
fn fragment_of(recalled: &[RecalledMemory], known: BTreeSet<String>, tokens_max: usize) -> RecalledContext {
    let meter = context::tokens::Meter::estimate();
    let count = |text: &str| meter.roughly(text);
    let visible = fragment::Visible {
        memories: known,
        clock: None,
    };
    let draft = fragment::draft(recalled, None, &visible, tokens_max, &count);
    draft.map_or_else(RecalledContext::default, |draft| RecalledContext {
        text: draft.text.trim().to_owned(),
        tokens: count(&draft.text),
        memories: draft
            .memories
            .iter()
            .filter(|id| !id.starts_with(PAGES))
            .map(|id| row_id(id))
            .collect(),
    })
}

/// The id of the row, without the suffix of a message marked as outdated.
fn row_id(id: &str) -> String {
    id.split('+').next().unwrap_or_default().to_owned()
}

/// The search for memories that may help with a message; none for an empty message.
fn search(whose: ContextOf<'_>, message: &str) -> Option<Search> {
    let query = question(&spoken::own_text(message));
    (!query.is_empty()).then(|| Search {
        memories_max: MEMORIES_MAX,
        messages_max: MESSAGES_MAX,
        with_person: whose.with_person,
        ..of_turn(whose.scope, whose.owner, query)
    })
}

/// A search fast enough for a turn: without a reranker; the caller sets the limits.
pub(crate) fn of_turn(scope: &Scope, owner: &Owner, query: String) -> Search {
    Search {
        scope: scope.clone(),
        owner: owner.clone(),
        query,
        method: Method::Hybrid,
        memories_max: 0,
        messages_max: 0,
        filter: None,
        as_of: None,
        asked_at: None,
        score_min: 0.0,
        tokens_max: None,
        with_person: false,
        rerank: Some(false),
    }
}

/// Core memory as one memory of at most this many tokens, with the first lines of each page: the person's pages first,
/// then the project's. None if reading takes too long.
pub(crate) async fn pages(
    engine: &Engine,
    clock: &dyn Clock,
    whose: ContextOf<'_>,
    tokens_max: usize,
    count: &(dyn Fn(&str) -> usize + Sync),
) -> Option<RecalledMemory> {
    let ContextOf { scope, owner, .. } = whose;
    let home = Some(Scope::home(&scope.app)).filter(|home| whose.with_person && home != scope);
    let places = home.iter().chain([scope]);
    // A search finds the lines that do not fit.
    let order = [Page::Soul, Page::User, Page::Memory];
    let read = join_all(places.flat_map(|place| order.map(|page| engine.page(place, owner, page))));
    let read = tokio::select! {
        read = read => read,
        () = clock.sleep(WAIT) => return None,
    };
    let aloud: Vec<String> = read
        .into_iter()
        .map(|page| {
            let page = warned!(page, "cannot read a page of core memory").flatten();
            page::read_aloud(&page.unwrap_or_default())
        })
        .collect();
    let text = first_lines(&aloud, |text| count(text) <= tokens_max);
    (!text.is_empty()).then(|| RecalledMemory {
        id: format!("{PAGES}{}", owner.id),
        text,
        said_millis: None,
    })
}

/// The first lines of each page, in the pages' order; takes one more line of each page in turn while they fit.
fn first_lines(pages: &[String], fits: impl Fn(&str) -> bool) -> String {
    let lines = |page: &String| -> Vec<String> {
        let lines = page.lines().filter(|line| !line.trim().is_empty());
        lines.map(|line| line.trim_end().to_owned()).collect()
    };
    let pages: Vec<Vec<String>> = pages.iter().map(lines).collect();
    let mut taken = vec![0; pages.len()];
    let text = |taken: &[usize]| {
        let lines = pages
            .iter()
            .zip(taken)
            .flat_map(|(lines, taken)| &lines[..*taken]);
        lines.cloned().collect::<Vec<_>>().join("\n")
    };
    let longest = pages.iter().map(Vec::len).max().unwrap_or_default();
    for round in 0..longest {
        for page in 0..pages.len() {
            // A line that does not fit ends its page.
            if taken[page] == round && round < pages[page].len() {
                taken[page] += 1;
                if !fits(&text(&taken)) {
                    taken[page] -= 1;
                }
            }
        }
    }
    text(&taken)
}

fn recalled(
    found: Found,
    question: &str,
    asker: &Owner,
    here: Option<&SessionId>,
    engine: &Engine,
) -> Vec<RecalledMemory> {
    let family = here.map(|here| party::family(here.as_str()));
    let elsewhere = |session: Option<&SessionId>| {
        session.is_none_or(|session| Some(party::family(session.as_str())) != family)
    };
    let mut ranking = ranking(found);
    ranking.messages.retain(|hit| elsewhere(hit.doc.session.as_ref()));
    ranking.memories.retain(|hit| elsewhere(hit.doc.session.as_ref()));
    let told = recall::memory_lines(&ranking, question, asker, &engine.settings().zone, &Messages);
    let recalled = told.into_iter().map(|line| RecalledMemory {
        id: line.id,
        text: line.text,
        said_millis: Some(line.said_at.millis()),
    });
    recalled.collect()
}

fn ranking(found: Found) -> recall::Ranking {
    recall::Ranking {
        memories: found.memories,
        messages: found.messages,
        span: found.span,
        ..recall::Ranking::default()
    }
}

/// The one result of a search that can be given as the answer: the best of the user's own messages, with the id of its
/// row, or the user's latest message about the same thing if that puts the best in doubt. None if no message is
/// certain.
pub fn sure(found: Found, search: &Search, zone: &Zone) -> Option<recall::MemoryLine> {
    let mut told = recall::memory_lines(&ranking(found), &search.query, &search.owner, zone, &Messages);
    told.retain(|line| line.is_own);
    let best = told.first().filter(|line| line.answers)?;
    let asked: BTreeSet<String> = terms(&search.query).into_iter().collect();
    let shared = |said: &&str| terms(said).iter().filter(|term| asked.contains(*term)).count();
    let answer = sentences(&best.said).into_iter().max_by_key(shared)?;
    let earlier = Remark::new(answer, best.said_at);
    let doubts = |line: &&recall::MemoryLine| {
        let said = sentences(&line.said).into_iter();
        line.until.is_none()
            && said
                .map(|said| Remark::new(said, line.said_at))
                .any(|later| later.doubts(&earlier))
    };
    let last = told.iter().filter(doubts).max_by_key(|line| line.said_at);
    last.or(Some(best)).map(|line| recall::MemoryLine {
        id: row_id(&line.id),
        ..line.clone()
    })
}

/// The query: the person's text; for a long text only its questions, its first and its last sentence.
fn question(words: &str) -> String {
    let words = words.trim();
    if words.chars().count() <= QUERY_CHARS_MAX {
        return words.to_owned();
    }
    let sentences: Vec<&str> = words.split_sentence_bounds().map(str::trim).collect();
    let last = sentences.len() - 1;
    let asks = |at: usize| sentences[at].ends_with(['?', '？']);
    let mut order: Vec<usize> = (0..=last).rev().filter(|at| asks(*at)).collect();
    order.extend([0, last]);
    let mut taken: Vec<usize> = Vec::new();
    let mut chars = 0;
    for at in order {
        let length = sentences[at].chars().count();
        if !taken.contains(&at) && chars + length <= QUERY_CHARS_MAX {
            taken.push(at);
            chars += length;
        }
    }
    taken.sort_unstable();
    let chosen: Vec<&str> = taken.into_iter().map(|at| sentences[at]).collect();
    if chosen.is_empty() {
        return words.chars().take(QUERY_CHARS_MAX).collect();
    }
    chosen.join(" ")
}
