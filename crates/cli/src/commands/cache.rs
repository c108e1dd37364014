//! `quipu context cache`: prompt-cache use of requests through the running server, with reasons for misses.
//!
//! Owns: the tables. Never: the measurements; the server has them.

use gateway::wire::cache::{CacheData, ConversationItem, RequestItem, UpstreamItem, reason_in_words};

use super::{Desk, runtime};
use crate::api::{Api, Path};
use crate::error::{Exit, Failure};
use crate::output::say;

pub(super) fn cache(desk: &Desk, conversation: Option<&str>) -> Result<Exit, Failure> {
    runtime()?.block_on(async { report(desk, &Api::of_server(desk)?, conversation).await })
}

async fn report(desk: &Desk, api: &Api, conversation: Option<&str>) -> Result<Exit, Failure> {
    let path = Path::new("/cache", "").with_any("conversation", conversation);
    let data: CacheData = api.get(path.text()).await?;
    let shown = || shown(&data.upstreams, &data.conversations);
    desk.tell(&data, || say!("{}", shown().trim_end()))
}

/// One line for each share of a server that is below its bound.
fn alerts<'a>(it: &UpstreamItem, requests: impl Iterator<Item = &'a RequestItem>) -> String {
    let pairs = requests.filter_map(|it| it.expected_tokens.zip(it.cached_tokens));
    let (expected, reused) = pairs.fold((0, 0), |(all, reused), (expected, cached)| {
        (all + expected, reused + cached.min(expected))
    });
    let reused = (expected > 0).then(|| reused as f64 / expected as f64);
    let bounds = [
        (it.extension_ratio, 0.95, "requests extend the last one"),
        (reused, 0.98, "tokens that the server could reuse were reused"),
    ];
    let below = |(ratio, least, what): (Option<f64>, f64, &str)| {
        let ratio = percent(Some(ratio.filter(|ratio| *ratio < least)?));
        let least = percent(Some(least));
        Some(format!("  alert: {ratio} of the {what}, less than {least}\n"))
    };
    bounds.into_iter().filter_map(below).collect()
}

fn upstream(it: &UpstreamItem) -> String {
    let (name, requests, prompt) = (&it.upstream, it.requests, it.prompt_tokens);
    let (cached, evaluated) = (it.cached_tokens, it.evaluated_tokens);
    let (hit, extend) = (percent(it.hit_ratio), percent(it.extension_ratio));
    let (half, most) = (millis(it.first_token_ms_p50), millis(it.first_token_ms_p99));
    let mut text = format!(
        "{name}\n  {requests} requests, {prompt} prompt tokens: {cached} cached, {evaluated} evaluated; {hit} of the tokens hit, \
         {extend} of the requests extend\n  first token: half within {half}, 99 of 100 within {most}\n"
    );
    for (class, count) in &it.classes {
        text.extend([format!("  {count:>7}  {}\n", reason_in_words(class))]);
    }
    text
}

fn conversation(it: &ConversationItem) -> String {
    let names = [
        "at", "prompt", "cached", "evaluated", "expected", "injected", "first token", "why",
    ];
    let head = format!("conversation {} at {}\n", it.conversation, it.upstream) + &row(names);
    it.requests.iter().fold(head, |text, it| text + &request(it))
}

fn request(it: &RequestItem) -> String {
    let reasons = match it.reasons.join("; ") {
        none if none.is_empty() => none,
        reasons => format!(" ({reasons})"),
    };
    let class = it.class.as_deref().map_or("-", reason_in_words);
    row([
        it.at.get(..19).unwrap_or(&it.at),
        &it.prompt_tokens.to_string(),
        &count(it.cached_tokens),
        &count(it.evaluated_tokens),
        &count(it.expected_tokens),
        &it.injected_tokens.to_string(),
        &millis(it.first_token_ms),
        &format!("{class}{reasons}"),
    ])
}

/// One line of the table.
fn row([at, prompt, cached, evaluated, expected, injected, first, why]: [&str; 8]) -> String {
    format!(
        "  {at:<19}  {prompt:>8}  {cached:>8}  {evaluated:>9}  {expected:>8}  {injected:>8}  {first:>11}  {why}\n"
    )
}

/// One block for each model server, and one table for each conversation with a line for each request.
fn shown(upstreams: &[UpstreamItem], conversations: &[ConversationItem]) -> String {
    let mut text = String::new();
    for it in upstreams {
        let here = conversations.iter().filter(|one| one.upstream == it.upstream);
        let alerts = alerts(it, here.flat_map(|one| &one.requests));
        text.extend([upstream(it), alerts, "\n".to_owned()]);
    }
    if conversations.is_empty() {
        text.push_str("no measured conversations yet\n");
    }
    text.extend(conversations.iter().map(conversation));
    text
}

fn percent(ratio: Option<f64>) -> String {
    count(ratio.map(|ratio| format!("{:.0} %", ratio * 100.0)))
}

fn millis(millis: Option<u64>) -> String {
    count(millis.map(|millis| format!("{millis} ms")))
}

fn count(count: Option<impl ToString>) -> String {
    count.map_or_else(|| "-".to_owned(), |count| count.to_string())
}

#[cfg(test)]
mod tests;
