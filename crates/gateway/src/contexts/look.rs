//! Reading conversations: `context/stats`, `guard`, `view`, `archives`, `recover`, `find` and the list.
//!
//! Owns: translating the requests and answers of the engine. Never: changing a conversation.

use context::guard::Limits;
use proxy::conversation::contexts::Original;

use super::{Live, value};
use crate::frame::Answer;
use crate::present;
use crate::wire::conversation::{
    ArchiveItem, ArchivesData, ContextStatsData, ConversationsData, ConversationsQuery, FindQuery, GivenData,
    GivenItem, GuardData, GuardQuery, LookQuery, OriginalItem, OriginalsData, RecoverQuery, ViewData,
    ViewItem, window,
};

pub(crate) async fn context_stats(live: Live<LookQuery>) -> Answer {
    let stats = live
        .contexts
        .stats(&live.whose, window(live.value.window_tokens)?)
        .await?;
    let data = ContextStatsData::of(&stats, live.contexts.chosen().info(), live.visit.gateway.zone());
    Ok(live.visit.answer(data))
}

pub(crate) async fn context_guard(live: Live<GuardQuery>) -> Answer {
    let Limits { block, warn } = live.contexts.chosen().policy.guard.clone();
    let limits = Limits {
        block: block.filter(|_| live.value.block),
        warn: warn.filter(|_| live.value.warn),
    };
    let (finding, events, window) = live
        .contexts
        .guard(&live.whose, window(live.value.window_tokens)?, &limits)
        .await?;
    Ok(live.visit.answer(GuardData {
        verdict: finding.verdict.as_str().to_owned(),
        window_tokens: finding.window,
        used_tokens: finding.used,
        remaining_tokens: finding.remaining(),
        safe_tokens: window.safe_budget(),
        source: window.source.as_str().to_owned(),
        events: present::names(&events, |event| event.as_str()),
        used_percent: finding.percent(),
        message: finding.message,
    }))
}

pub(crate) async fn context_conversations(live: Live<ConversationsQuery>) -> Answer {
    let limit = live.value.limit as usize;
    let conversations = live.contexts.list(&live.whose, limit).await?;
    Ok(live.visit.answer(ConversationsData { conversations }))
}

pub(crate) async fn context_view(live: Live<LookQuery>) -> Answer {
    let view = live.contexts.view(&live.whose).await?;
    Ok(live.visit.answer(ViewData {
        messages: view.iter().map(ViewItem::of).collect(),
    }))
}

pub(crate) async fn context_given(live: Live<LookQuery>) -> Answer {
    let (head, turns) = live.contexts.additions(&live.whose).await?;
    let turns = turns.into_iter().map(|(id, fragment)| GivenItem {
        id: id.to_string(),
        memories: fragment.memories.len(),
        text: fragment.text.trim().to_owned(),
    });
    Ok(live.visit.answer(GivenData {
        head,
        turns: turns.collect(),
    }))
}

pub(crate) async fn context_archives(live: Live<LookQuery>) -> Answer {
    let archives = live.contexts.archives(&live.whose).await?;
    Ok(live.visit.answer(ArchivesData {
        archives: archives.iter().map(|node| ArchiveItem::of(node)).collect(),
    }))
}

pub(crate) async fn context_recover(live: Live<RecoverQuery>) -> Answer {
    let found = live.contexts.recover(&live.whose, &live.value.id).await?;
    Ok(live.visit.answer(originals(found)))
}

pub(crate) async fn context_find(live: Live<FindQuery>) -> Answer {
    let limit = live.value.limit()?;
    let found = live.contexts.find(&live.whose, &live.value.query, limit).await?;
    Ok(live.visit.answer(originals(found)))
}

fn originals(found: Vec<Original>) -> OriginalsData {
    let item = |original: Original| OriginalItem {
        id: original.id.to_string(),
        message: value(&original.message),
    };
    OriginalsData {
        messages: found.into_iter().map(item).collect(),
    }
}
