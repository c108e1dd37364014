//! The engine's answers as wire types.
//!
//! Owns: the place of each hit in an answer. Never: ranking; the engine decides the order.

use std::collections::BTreeSet;

use memory::{Found, Hit, List, Listed, Method, Search, Why};
use model::{DocKind, EntryKind, Owner, Zone};

use crate::wire::search::TimeSpan;
use crate::wire::{
    ApiId, CaseItem, EpisodeItem, Explain, FactItem, ForesightItem, FoundMessage, GetData, ProfileItem,
    SearchData, SearchMethod, SkillItem, UnprocessedMessage,
};

/// The result of a search. A fact is in `facts`, and also under its episode if the search found the episode too.
pub(crate) fn search(
    found: &Found,
    profile: &[Hit],
    search: &Search,
    zone: &Zone,
    explain: bool,
) -> SearchData {
    let show = Show { zone, explain };
    let of = |kind| {
        let hits = found.memories.iter();
        hits.filter(move |hit| hit.doc.kind == DocKind::Entry(kind))
            .collect::<Vec<&Hit>>()
    };
    let (episodes, lone) = (of(EntryKind::Episode), of(EntryKind::Fact));
    let mut facts: Vec<&Hit> = lone.clone();
    facts.extend(episodes.iter().flat_map(|hit| &hit.facts));
    best_first(&mut facts);
    SearchData {
        episodes: episodes.iter().map(|hit| show.episode(hit, &lone)).collect(),
        profiles: profile_of(profile),
        agent_cases: of(EntryKind::Case).iter().map(|hit| show.case(hit)).collect(),
        agent_skills: of(EntryKind::Skill).iter().map(|hit| show.skill(hit)).collect(),
        unprocessed_messages: found
            .unprocessed
            .iter()
            .map(|message| UnprocessedMessage::of(message, zone))
            .collect(),
        facts: facts.iter().map(|hit| show.fact(hit)).collect(),
        foresights: of(EntryKind::Foresight)
            .into_iter()
            .map(|hit| ForesightItem {
                score: Some(hit.score),
                ..ForesightItem::of(&hit.doc, zone)
            })
            .collect(),
        messages: found
            .messages
            .iter()
            .take(search.messages_max)
            .map(|hit| show.message(hit))
            .collect(),
        sure: None,
        method: model::same!(found.method, Method => SearchMethod: Keyword, Vector, Hybrid),
        time_span: found.span.map(|(from, to)| TimeSpan {
            from: zone.render(from),
            to: zone.render(to),
        }),
        warnings: found.warnings.clone(),
        queries: found.queries.clone(),
    }
}

/// The profile that the rows form; empty without rows.
pub(crate) fn profile_of(rows: &[Hit]) -> Vec<ProfileItem> {
    ProfileItem::of(rows.iter().map(|hit| &*hit.doc))
        .into_iter()
        .collect()
}

/// Sorts by score, and keeps the first hit of each id; equal scores keep the engine's order.
fn best_first(facts: &mut Vec<&Hit>) {
    facts.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut seen = BTreeSet::new();
    facts.retain(|hit| seen.insert(hit.doc.key.id.clone()));
}

struct Show<'a> {
    zone: &'a Zone,
    explain: bool,
}

impl Show<'_> {
    fn episode(&self, hit: &Hit, lone: &[&Hit]) -> EpisodeItem {
        let id = hit.doc.key.id.as_ref();
        let is_ours = |fact: &Hit| fact.doc.parent.as_ref().is_some_and(|parent| parent.id == id);
        let mut facts: Vec<&Hit> = hit.facts.iter().collect();
        facts.extend(lone.iter().copied().filter(|fact| is_ours(fact)));
        best_first(&mut facts);
        EpisodeItem {
            score: Some(hit.score),
            superseded_by: successor(hit, &hit.doc.key.owner),
            atomic_facts: Some(facts.iter().map(|fact| self.fact(fact)).collect()),
            explain: self.why(&hit.why),
            ..EpisodeItem::of(&hit.doc, self.zone)
        }
    }

    fn fact(&self, hit: &Hit) -> FactItem {
        FactItem {
            score: Some(hit.score),
            superseded_by: successor(hit, &hit.doc.key.owner),
            explain: self.why(&hit.why),
            ..FactItem::of(&hit.doc, self.zone)
        }
    }

    fn case(&self, hit: &Hit) -> CaseItem {
        CaseItem {
            score: Some(hit.score),
            explain: self.why(&hit.why),
            ..CaseItem::of(&hit.doc, self.zone)
        }
    }

    fn skill(&self, hit: &Hit) -> SkillItem {
        SkillItem {
            score: Some(hit.score),
            explain: self.why(&hit.why),
            ..SkillItem::of(&hit.doc)
        }
    }

    fn message(&self, hit: &Hit) -> FoundMessage {
        FoundMessage {
            score: hit.score,
            explain: self.why(&hit.why),
            ..FoundMessage::of(&hit.doc, self.zone)
        }
    }

    fn why(&self, why: &Why) -> Option<Explain> {
        self.explain.then(|| Explain::of(why))
    }
}

fn successor(hit: &Hit, owner: &Owner) -> Option<String> {
    let id = hit.superseded_by.as_ref()?;
    Some(ApiId::render(&owner.id, id.as_str()))
}

/// A page of memories.
pub(crate) fn list(listed: &Listed, list: &List, zone: &Zone) -> GetData {
    let mut data = GetData {
        total_count: listed.total,
        count: listed.hits.len(),
        ..GetData::default()
    };
    if list.kind == EntryKind::Profile {
        data.profiles = profile_of(&listed.hits);
        return data;
    }
    for hit in &listed.hits {
        match list.kind {
            EntryKind::Foresight => data.foresights.push(ForesightItem::of(&hit.doc, zone)),
            EntryKind::Episode => data.episodes.push(EpisodeItem {
                superseded_by: successor(hit, &list.owner),
                ..EpisodeItem::of(&hit.doc, zone)
            }),
            EntryKind::Case => data.agent_cases.push(CaseItem::of(&hit.doc, zone)),
            EntryKind::Skill => data.agent_skills.push(SkillItem::of(&hit.doc)),
            _ => data.facts.push(FactItem {
                superseded_by: successor(hit, &list.owner),
                ..FactItem::of(&hit.doc, zone)
            }),
        }
    }
    data
}

/// The name of each value.
pub(crate) fn names<T>(values: &[T], name: impl Fn(&T) -> &'static str) -> Vec<String> {
    values.iter().map(|value| name(value).to_owned()).collect()
}
