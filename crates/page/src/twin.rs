//! A fact and a line of the profile with the same words: who changes one is asked about the other.
//!
//! Owns: finding the other. Never: changing it.

use wire::{GetData, MemoryType, SearchData, SearchRequest};

use crate::cards::{MemoryCard, Twin, cards};
use crate::guest::Guest;
use crate::memories;
use gateway::ApiError;

/// Facts among which the one with the old words is looked for.
const LOOKED_AT: i64 = 20;

/// Where the old words of a changed memory still stand, if they do.
pub(crate) async fn of(guest: &Guest, before: &MemoryCard) -> Result<Option<Twin>, ApiError> {
    let whose = &guest.whose;
    let (others, place) = if before.is_fact {
        let request = memories::request(whose, MemoryType::Profile);
        let data: GetData = guest.api.post_data("/memory/get", &request).await?;
        let place = if whose.is_you() {
            "Your profile".to_owned()
        } else {
            format!("The profile of {}", whose.user)
        };
        (cards(&data, whose), place)
    } else if before.is_statement() {
        let request = SearchRequest {
            user_id: Some(whose.user.clone()),
            top_k: LOOKED_AT,
            ..SearchRequest::new(before.text.clone()).within(&whose.app, &whose.project)
        };
        let data: SearchData = guest.api.post_data("/memory/search", &request).await?;
        let facts = data.facts.iter().map(|fact| MemoryCard::fact(fact, whose));
        let holding = facts.filter(|fact| fact.superseded_by.is_none() && fact.ended.is_none());
        (holding.collect(), "A fact".to_owned())
    } else {
        return Ok(None);
    };
    let other = others.into_iter().find(|other| same(&other.text, &before.text));
    Ok(other.map(|other| Twin {
        place,
        text: other.text,
        address: other.address,
    }))
}

/// Whether two texts are the same, but for what people do not read.
fn same(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split_whitespace();
        words
            .map(|word| word.trim_end_matches('.').to_lowercase())
            .collect()
    };
    words(one) == words(other)
}
