//! A search in an owner's rows.
//!
//! Owns: which rows are searched, with which evidence, and where the ranking runs. Never: ranking (`recall`).

use std::sync::Arc;

use model::{DocKey, Message, Owner, OwnerKind, Scope, Timestamp, Vector, Zone, warned};
use ports::{CandidateQuery, EmbedPurpose};
use recall::{Corpus, Cosines, Hit, Method, Query, RERANKED_MAX, Ranking, cut_to_tokens};

use super::rerank::{rerank, reranker};
use crate::api::{Found, Search};
use crate::base::{Base, Hot, corpus_of};
use crate::error::EngineError;
use crate::runtime::off_thread;

/// From this number of rows on, ranking runs on another thread than the one that serves requests.
const ROWS_INLINE_MAX: usize = 5_000;
/// Maximum rows for ranking from each search in a large owner's index.
const CANDIDATES: usize = 500;

/// A search with all inputs of the ranking.
#[derive(Debug)]
struct Question {
    search: Search,
    vector: Option<Vector>,
    cosines: Cosines,
    method: Method,
    asked_at: Timestamp,
    zone: Zone,
    /// Minimum number of ranked hits if any are wanted: a reranker chooses among more than wanted.
    hits_min: usize,
}

/// Finds memories and messages.
pub(crate) async fn search(base: &Base, search: Search) -> Result<Found, EngineError> {
    base.accepting()?;
    check(&search)?;
    let clock = &*base.parts.clock;
    base.gauge.usable(clock).await?;
    if !base.gauge.is_synced() {
        // Reads the rows while the vault is scanned: changes found there reach the rows, or the rows are read again
        // below.
        let early = base.corpora.view(&search.scope, &search.owner);
        drop(tokio::join!(early, base.gauge.synced(clock)));
    }
    let vector = embed(base, &search).await;
    let cosines = match vector {
        Some(_) => base.rows.cosines().await,
        None => Cosines::default(),
    };
    let question = Arc::new(Question {
        method: if vector.is_some() {
            search.method
        } else {
            Method::Keyword
        },
        asked_at: search.asked_at.unwrap_or_else(|| base.now()),
        zone: base.settings.zone.clone(),
        hits_min: reranker(base, &search).map_or(0, |_| RERANKED_MAX),
        vector,
        cosines,
        search,
    });
    let (scope, owner) = (&question.search.scope, &question.search.owner);
    let mut ranking = rank_at(base, &question, scope, owner).await?;
    // A hit found in both places counts as superseded if either says so: a fact can be superseded in another project.
    let is_better = |known: &Hit, other: &Hit| known.superseded_by.is_none() && other.superseded_by.is_some();
    for (scope, owner) in other_memories(base, &question.search).await? {
        let more = rank_at(base, &question, &scope, &owner).await?;
        unite(&mut ranking.memories, more.memories, is_better);
        unite(&mut ranking.messages, more.messages, is_better);
    }
    let folder = base.parts.vault.folder_of(&question.search.scope);
    let unread = base.gauge.unread_warning(&folder);
    let warning = rerank(base, &question.search, &mut ranking).await;
    ranking.memories.truncate(question.search.memories_max);
    ranking.messages.truncate(question.search.messages_max);
    if let Some(tokens_max) = question.search.tokens_max {
        cut_to_tokens(&mut ranking, tokens_max);
    }
    Ok(Found {
        memories: ranking.memories,
        messages: ranking.messages,
        unprocessed: unprocessed(base, &question.search).await?,
        span: ranking.span,
        method: question.method,
        warnings: warning.into_iter().chain(unread).collect(),
        queries: Vec::new(),
    })
}

fn check(search: &Search) -> Result<(), EngineError> {
    if search.query.trim().is_empty() {
        return Err(EngineError::invalid("a search needs a query"));
    }
    if search.memories_max == 0 && search.messages_max == 0 {
        return Err(EngineError::invalid(
            "a search must ask for at least one memory or message",
        ));
    }
    Ok(())
}

/// The query's vector; none if only keywords are asked for, or if only keyword search works.
async fn embed(base: &Base, search: &Search) -> Option<Vector> {
    if search.method == Method::Keyword || !base.gauge.takes_vectors() {
        return None;
    }
    let embedder = &base.parts.embedder;
    let vectors = embedder.embed(&[&search.query], EmbedPurpose::Query).await;
    let vectors = warned!(vectors, "embedder unavailable; keyword search only")?;
    vectors.into_iter().next()
}

/// Other memory that a search reads: the owner's outside of the project, the facts that hold in all of the owner's
/// projects, and that of others who share the project.
async fn other_memories(base: &Base, search: &Search) -> Result<Vec<(Scope, Owner)>, EngineError> {
    let Search { scope, owner, .. } = search;
    let mut places = Vec::new();
    if owner.kind != OwnerKind::User {
        return Ok(places);
    }
    if search.with_person {
        let own = [Scope::home(&scope.app), Scope::all_projects(&scope.app)];
        places.extend(
            own.into_iter()
                .filter(|own| own != scope)
                .map(|own| (own, owner.clone())),
        );
    }
    if base.settings.shared.contains(scope) {
        let users = base.parts.file_changes.users(scope).await?;
        let others = users.into_iter().filter(|user| user != owner);
        places.extend(others.map(|other| (scope.clone(), other)));
    }
    Ok(places)
}

/// Adds hits of another search; `is_better` decides whether one replaces a known hit.
pub(super) fn unite(hits: &mut Vec<Hit>, others: Vec<Hit>, is_better: impl Fn(&Hit, &Hit) -> bool) {
    for other in others {
        match hits.iter_mut().find(|hit| hit.doc.key == other.doc.key) {
            Some(known) if is_better(known, &other) => *known = other,
            Some(_) => {}
            None => hits.push(other),
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
}

async fn rank_at(
    base: &Base,
    question: &Arc<Question>,
    scope: &Scope,
    owner: &Owner,
) -> Result<Ranking, EngineError> {
    match base.corpora.view(scope, owner).await? {
        Some(hot) => rank(&hot, question).await,
        None => rank_candidates(base, question, scope, owner).await,
    }
}

async fn rank(hot: &Arc<Hot>, question: &Arc<Question>) -> Result<Ranking, EngineError> {
    if hot.read(Corpus::len) <= ROWS_INLINE_MAX {
        return Ok(hot.read(|corpus| question.rank(corpus)));
    }
    let (hot, question) = (hot.clone(), question.clone());
    off_thread(move || hot.read(|corpus| question.rank(corpus))).await
}

/// For an owner with too many rows: reads the index's best candidates, and ranks them together with the buffered
/// messages.
async fn rank_candidates(
    base: &Base,
    question: &Question,
    scope: &Scope,
    owner: &Owner,
) -> Result<Ranking, EngineError> {
    let best = CandidateQuery {
        scope: scope.clone(),
        owner: owner.clone(),
        text: if question.method == Method::Vector {
            String::new()
        } else {
            question.search.query.clone()
        },
        vector: question.vector.clone(),
        limit: CANDIDATES,
    };
    // Reads the buffer first: messages that leave it are in the index already.
    let tail = base.parts.transcripts.tail(scope, owner).await?;
    let mut docs = base.parts.index.candidates(&best).await?;
    // What superseded a candidate need not share a word with the question.
    let named = docs.iter().filter_map(|doc| doc.superseded_by.as_ref());
    let missing = named.filter(|id| docs.iter().all(|doc| *doc.key.id != *id.as_str()));
    let missing: Vec<DocKey> = missing.map(|id| DocKey::new(scope, owner, id.as_str())).collect();
    docs.extend(base.parts.index.get(&missing).await?);
    let buffered = base.corpora.buffered_rows(owner, &tail).await;
    Ok(question.rank(&corpus_of(owner, docs, buffered)))
}

/// With a filter for one session: its messages that are not in an episode yet.
async fn unprocessed(base: &Base, search: &Search) -> Result<Vec<Message>, EngineError> {
    let Some(session) = search.filter.as_ref().and_then(|filter| filter.session()) else {
        return Ok(Vec::new());
    };
    let mut tail = base.parts.transcripts.tail(&search.scope, &search.owner).await?;
    tail.retain(|message| message.session.session.as_str() == session);
    Ok(tail)
}

impl Question {
    fn rank(&self, corpus: &Corpus) -> Ranking {
        let among = |wanted: usize| if wanted == 0 { 0 } else { wanted.max(self.hits_min) };
        corpus.search(&Query {
            text: &self.search.query,
            vector: self.vector.as_deref(),
            cosines: self.cosines,
            method: self.method,
            filter: self.search.filter.as_ref(),
            asked_at: self.asked_at,
            zone: &self.zone,
            as_of: self.search.as_of,
            memories_max: among(self.search.memories_max),
            messages_max: among(self.search.messages_max),
            score_min: self.search.score_min,
        })
    }
}
