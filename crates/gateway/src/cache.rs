//! `cache`: prompt-cache use of requests to model servers.
//!
//! Owns: limiting it to the caller's tenant. Never: measuring (`proxy`).

use proxy::measure::Measured;

use crate::body::UrlQuery;
use crate::frame::{Answer, Visit};
use crate::wire::cache::{ConversationItem, RequestItem, UpstreamItem};
use crate::wire::{CacheData, CacheQuery};

const CONVERSATIONS_MAX: usize = 50;

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
    let zone = visit.gateway.zone();
    let item = |(id, requests): (String, Vec<Measured>)| {
        let upstream = requests.first()?.upstream.clone();
        let conversation = id.strip_prefix(&beginning)?.to_owned();
        Some(ConversationItem {
            conversation,
            upstream,
            requests: requests.iter().map(|one| RequestItem::of(one, zone)).collect(),
        })
    };
    let conversations = requests.into_iter().filter_map(item).collect();
    let upstreams = if visit.caller.sees_all() {
        let upstreams = measures.upstreams().into_iter();
        upstreams
            .map(|(name, totals)| UpstreamItem::of(&totals, name))
            .collect()
    } else {
        Vec::new()
    };
    Ok(visit.answer(CacheData {
        upstreams,
        conversations,
    }))
}
