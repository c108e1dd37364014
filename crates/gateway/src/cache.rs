//! `cache`: prompt-cache use of requests to model servers.
//!
//! Owns: which of it a caller may see. Never: measuring (`proxy`).

use macro_rules_attribute::apply;
use proxy::measure::{Measured, Totals};

use crate::body::UrlQuery;
use crate::describe::described;
use crate::frame::{Answer, Visit};
use crate::present;
use crate::state::Gateway;
use crate::wire::cache::{ConversationItem, RequestItem, UpstreamItem};
use crate::wire::{CacheData, CacheQuery};

const CONVERSATIONS_MAX: usize = 50;

/// Prompt-cache use of requests
///
/// For the models behind `/v1`, since the start of the process; empty if there are none.
#[apply(described!)]
#[get("/cache", CacheQuery => "Prompt-cache hits and misses of requests" CacheData)]
pub(crate) async fn cache(visit: Visit, UrlQuery(query): UrlQuery<CacheQuery>) -> Answer {
    let scope = query.scope(&visit.caller.home)?;
    visit.caller.enter(&scope)?;
    let Some(proxy) = &visit.gateway.proxy else {
        return Ok(visit.answer(CacheData::default()));
    };
    let measures = proxy.measures();
    let beginning = format!("{}/{}/", scope.app, scope.project);
    let requests = match &query.conversation {
        Some(id) => {
            let id = format!("{beginning}{id}");
            let requests = measures.conversation(&id);
            vec![(id, requests)]
        }
        None => measures.newest(CONVERSATIONS_MAX),
    };
    let item = |(id, requests): (String, Vec<Measured>)| {
        let upstream = requests.first()?.upstream.clone();
        let conversation = id.strip_prefix(&beginning)?.to_owned();
        Some(ConversationItem {
            conversation,
            upstream,
            requests: requests.iter().map(|one| request(one, &visit.gateway)).collect(),
        })
    };
    let conversations = requests.into_iter().filter_map(item).collect();
    let upstreams = if visit.caller.sees_all() {
        measures.upstreams().into_iter().map(upstream).collect()
    } else {
        Vec::new()
    };
    Ok(visit.answer(CacheData {
        upstreams,
        conversations,
    }))
}

fn upstream((name, totals): (String, Totals)) -> UpstreamItem {
    UpstreamItem {
        upstream: name,
        requests: totals.requests,
        prompt_tokens: totals.prompt_tokens,
        cached_tokens: totals.cached_tokens,
        evaluated_tokens: totals.evaluated_tokens,
        hit_ratio: totals.hit_ratio,
        extension_ratio: totals.extension_ratio,
        first_token_ms_p50: totals.first_token_p50_ms,
        first_token_ms_p99: totals.first_token_p99_ms,
        classes: totals
            .classes
            .into_iter()
            .map(|(class, count)| (class.to_owned(), count))
            .collect(),
    }
}

fn request(one: &Measured, gateway: &Gateway) -> RequestItem {
    RequestItem {
        at: gateway.zone().render(one.at),
        status: one.status,
        prompt_tokens: one.prompt_tokens,
        cached_tokens: one.cached_tokens,
        evaluated_tokens: one
            .cached_tokens
            .map(|cached| one.prompt_tokens.saturating_sub(cached)),
        completion_tokens: one.completion_tokens,
        first_token_ms: one.first_token_ms,
        total_ms: one.total_ms,
        expected_tokens: one.expected_tokens,
        class: one.class.map(|class| class.word().to_owned()),
        reasons: present::words(&one.reasons, |reason| reason.as_str()),
        injected_tokens: one.injected_tokens,
    }
}
