//! Reranking the best hits of a search by a model.
//!
//! Owns: which searches are reranked, the time limit, and the warning of an answer without it. Never: the order
//! (`recall`).

use model::warned;
use ports::Reranker;
use recall::{Method, Ranking, Shortlist};

use crate::api::Search;
use crate::base::Base;

/// The reranker of a search. By default only a hybrid search has one: a search by keywords or vectors alone asks for
/// that order.
pub(crate) fn reranker<'a>(base: &'a Base, search: &Search) -> Option<&'a dyn Reranker> {
    let is_wanted = search.rerank.unwrap_or(search.method == Method::Hybrid);
    base.parts.reranker.as_deref().filter(|_| is_wanted)
}

/// Reranks the best hits. Returns a warning if the first order stays although the search asked for reranking.
pub(crate) async fn rerank(base: &Base, search: &Search, ranking: &mut Ranking) -> Option<String> {
    let Some(reranker) = reranker(base, search) else {
        let is_missed = search.rerank == Some(true);
        return is_missed
            .then(|| "not reranked: the server has no reranker; set `rerank.provider`".to_owned());
    };
    let shortlist = Shortlist::of(ranking, &search.query, &search.owner, &base.settings.zone);
    let passages: Vec<&str> = shortlist.passages.iter().map(String::as_str).collect();
    if passages.is_empty() {
        return None;
    }
    let wait = base.settings.rerank_wait;
    let scores = tokio::select! {
        scores = reranker.rerank(&search.query, &passages) => scores,
        () = base.parts.clock.sleep(wait) => {
            tracing::warn!(?wait, "reranker timeout; the search keeps its first order");
            let seconds = wait.as_secs();
            return Some(format!(
                "not reranked: the reranker took longer than {seconds} s; use a smaller model or raise `rerank.timeout_seconds`"
            ));
        }
    };
    let Some(scores) = warned!(scores, "reranker unavailable; the search keeps its first order") else {
        return Some("not reranked: the reranker failed; the server's log has the cause".to_owned());
    };
    shortlist.order(ranking, &scores);
    None
}
