//! `dream`: MEMORY.md, USER.md and SOUL.md of every user, updated at night and after some episodes.
//!
//! Owns: which memories can be on a page. Never: which lines a page loses (`extract::consolidate::dream` decides).
//!
//! Rules decide whether there is anything to change, and whether there is room for all of it. A model is asked only to
//! choose.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::{About, Failure, RunContext, RunOutcome, Strategy, Triggers};
use async_trait::async_trait;
use extract::Remark;
use extract::consolidate::dream::{
    Candidate, Limits, apply, curated, has_room, page_of, parse_answer, request,
};
use extract::consolidate::known::{KnownFact, earned, leave_doubted};
use extract::consolidate::profile::ProfileCategory;
use memory::{Belief, Engine, Hit, ReplacePage};
use model::{EntryKind, Owner, Page, Scope, Timestamp, Zone, moment_of, warned};
use ports::runs::{MemoryEvent, Threshold};

use crate::strategies::support::{
    NO_ANSWER, all, ask, failed, known, memory_of_user, owners, recorded, with_dropped,
};

/// Number of episodes that cause a run before the night does.
const EPISODES: u32 = 8;
const COOLDOWN: Duration = Duration::from_hours(6);
/// Maximum number of newest facts that are not in the profile.
const FACTS_MAX: usize = 40;
/// Upcoming events come before every fact; the next event first.
const FORESIGHT_WORTH: i64 = 1_000_000;
/// Larger than the number of statements under a heading; the first heading stays below the events.
const HEADING_WORTH: i64 = 1_000;
/// How often a page is read again if a person saved it meanwhile.
const TRIES: usize = 3;

/// The strategy.
#[derive(Debug)]
pub(super) struct Dream {
    pub(super) engine: Engine,
    pub(super) limits: Limits,
}

#[async_trait]
impl Strategy for Dream {
    fn name(&self) -> &'static str {
        "dream"
    }

    fn triggers(&self) -> Triggers {
        Triggers {
            idle: Some(Duration::from_mins(5)),
            threshold: Some(Threshold {
                count: EPISODES,
                cooldown: COOLDOWN,
            }),
            cron: Some("30 3 * * *".into()),
        }
    }

    fn about(&self, event: &MemoryEvent) -> Option<About> {
        memory_of_user(event)
    }

    async fn run(&self, context: &RunContext) -> Result<RunOutcome, Failure> {
        let (mut count, mut dropped) = (0, 0);
        for (scope, owner) in owners(&self.engine, context).await? {
            let (changed, left_out) = self.dream(context, &scope, &owner).await?;
            (count, dropped) = (count + changed, dropped + left_out);
        }
        let change = format!("{count} pages changed");
        Ok(RunOutcome::of(with_dropped(change, dropped)))
    }
}

impl Dream {
    /// The number of pages that changed, and the number of a model's changes that were left out.
    async fn dream(
        &self,
        context: &RunContext,
        scope: &Scope,
        owner: &Owner,
    ) -> Result<(usize, usize), Failure> {
        let mut there = BTreeSet::new();
        let mut kinds = Vec::new();
        for kind in [EntryKind::Profile, EntryKind::Fact, EntryKind::Foresight] {
            let hits = all(&self.engine, scope, owner, kind).await?;
            there.extend(hits.iter().map(|hit| hit.doc.key.id.clone()));
            kinds.push(hits);
        }
        let [profile, facts, foresights] = &kinds[..] else {
            unreachable!("three kinds were read");
        };
        let now = context.clock.now();
        let mut known = known(facts, owner, now);
        let said = self.engine.review(scope, owner).await.map_err(failed)?;
        let said = said.iter().filter(|one| one.belief != Belief::Withdrawn);
        let said: Vec<Remark<'_>> = said.map(|one| Remark::new(&one.text, one.said_at)).collect();
        let doubted = leave_doubted(&mut known, &said);
        for hit in profile.iter().chain(facts) {
            let mut same = known.iter().filter(|fact| fact.text == hit.doc.text);
            if doubted.contains(&*hit.doc.text) && !same.any(|fact| fact.is_current) {
                there.remove(&hit.doc.key.id);
            }
        }
        let earned = earned(&known);
        let ahead = ahead(foresights, now);
        let is_ahead = |text: &str| {
            ahead
                .iter()
                .any(|event| extract::is_duplicate(&event.doc.text, text))
        };
        let (mut count, mut dropped) = (0, 0);
        for page in Page::ALL {
            let mut statements = of_profile(profile, page, &known, &earned);
            if page == Page::Memory {
                statements.extend(of_facts(&known, profile, &earned));
            }
            let mut candidates = self.ordered(statements).await;
            if page == Page::Memory {
                candidates.extend(of_foresights(&ahead, &self.engine.settings().zone));
            }
            // No statement stands on two pages: an upcoming event belongs on `MEMORY.md` alone, and a fact that the
            // profile has leaves `MEMORY.md`.
            candidates.retain(|one| page != Page::User || !is_ahead(&one.text));
            let is_there = |id: &str| {
                let listed = || {
                    known
                        .iter()
                        .any(|fact| fact.id == id && is_in_profile(profile, fact.text))
                };
                let is_event = || {
                    profile
                        .iter()
                        .any(|hit| *hit.doc.key.id == *id && is_ahead(&hit.doc.text))
                };
                there.contains(id) && !(page == Page::Memory && listed() || page == Page::User && is_event())
            };
            let curated = self.curate(context, (scope, owner, page), &candidates, &is_there);
            if let Some(left_out) = curated.await? {
                (count, dropped) = (count + 1, dropped + left_out);
            }
        }
        Ok((count, dropped))
    }

    /// Statements with their worth: by their nearest heading, and in their order under it.
    async fn ordered(&self, statements: Vec<(String, String)>) -> Vec<Candidate> {
        let headings: Vec<(ProfileCategory, &str)> = ProfileCategory::described().collect();
        let abouts: Vec<&str> = headings.iter().map(|(_, about)| *about).collect();
        let texts: Vec<&str> = statements.iter().map(|(_, text)| text.as_str()).collect();
        let nearest = self.engine.nearest(&texts, &abouts).await;
        let nearest =
            warned!(nearest, "cannot order core memory by what its lines are about").unwrap_or_default();
        let worth = |at: usize| nearest.get(at).map_or(0, |near| headings[*near].0.worth());
        let candidates = (0i64..).zip(statements).enumerate();
        candidates
            .map(|(at, (n, (id, text)))| Candidate {
                id,
                text,
                worth: i64::from(worth(at)) * HEADING_WORTH - n,
            })
            .collect()
    }

    /// Updates a page; if it changed, returns the number of a model's changes that were left out.
    async fn curate(
        &self,
        context: &RunContext,
        (scope, owner, page): (&Scope, &Owner, Page),
        candidates: &[Candidate],
        is_there: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<Option<usize>, Failure> {
        let chars_max = self.limits.of(page);
        for _ in 0..TRIES {
            let before = self.engine.page(scope, owner, page).await.map_err(failed)?;
            let standing = before.clone().unwrap_or_default();
            let by_rules = curated(&standing, candidates, is_there, chars_max);
            if by_rules == standing {
                return Ok(None);
            }
            let read = |answer: &str| {
                let said = parse_answer(answer, &standing, candidates).ok_or(NO_ANSWER)?;
                let is_any = !said.operations.is_empty();
                let after = apply(&standing, &said.operations, is_there, chars_max).filter(|_| is_any);
                after.map(|after| (after, said.dropped)).ok_or(NO_ANSWER)
            };
            let said = if has_room(&standing, candidates, chars_max) {
                None
            } else {
                ask(context, request(&standing, candidates), read).await
            };
            let (text, dropped) = said.map_or((by_rules, 0), |(said, _)| said);
            let replace = ReplacePage {
                scope: scope.clone(),
                owner: owner.clone(),
                page,
                before,
                text,
            };
            let replacing = self.engine.replace_page(replace);
            if recorded(&self.engine, context, replacing).await.map_err(failed)? {
                return Ok(Some(dropped));
            }
        }
        Err(Failure::Retry(format!("{} is being changed", page.as_str())))
    }
}

/// The profile statements of a page, newest first, each with its id. `SOUL.md` gets all of its statements: how the user
/// wants to be answered. Another page gets those that have earned their place by a fact in the same words or, if a
/// model worded the statement, by one of its messages.
fn of_profile(
    profile: &[Hit],
    page: Page,
    known: &[KnownFact<'_>],
    earned: &BTreeSet<&str>,
) -> Vec<(String, String)> {
    let lasts = |hit: &&Hit| {
        let mut same = known.iter().filter(|fact| fact.text == hit.doc.text).peekable();
        page == Page::Soul
            || if same.peek().is_some() {
                same.any(|fact| earned.contains(fact.id))
            } else {
                let mut sources = hit.doc.sources.iter();
                sources.any(|source| earned.contains(source.as_str()))
            }
    };
    let newest = |hit: &&Hit| {
        known
            .iter()
            .position(|fact| fact.text == hit.doc.text)
            .unwrap_or(known.len())
    };
    let own = profile.iter().filter(|hit| page_of(&hit.doc.subject) == page);
    let mut own: Vec<&Hit> = own.filter(lasts).collect();
    own.sort_by_key(newest);
    own.into_iter()
        .map(|hit| (hit.doc.key.id.to_string(), hit.doc.text.clone()))
        .collect()
}

/// The upcoming events, the next one first.
fn ahead(foresights: &[Hit], now: Timestamp) -> Vec<&Hit> {
    let mut ahead: Vec<&Hit> = foresights
        .iter()
        .filter(|hit| hit.superseded_by.is_none() && hit.doc.valid_until.is_some_and(|until| now < until))
        .collect();
    ahead.sort_by_key(|hit| (hit.doc.valid_from, hit.doc.key.id.clone()));
    ahead
}

/// Each event with its date, because "tomorrow" means another day tomorrow.
fn of_foresights(ahead: &[&Hit], zone: &Zone) -> Vec<Candidate> {
    let dated = |hit: &Hit| match hit.doc.valid_from {
        Some(from) => format!("{}: {}", moment_of(&zone.render(from)), hit.doc.text),
        None => hit.doc.text.clone(),
    };
    (0i64..)
        .zip(ahead)
        .map(|(n, hit)| Candidate {
            id: hit.doc.key.id.to_string(),
            text: dated(hit),
            worth: FORESIGHT_WORTH - n,
        })
        .collect()
}

/// Whether the profile has the same statement.
fn is_in_profile(profile: &[Hit], text: &str) -> bool {
    profile
        .iter()
        .any(|hit| extract::is_duplicate(&hit.doc.text, text))
}

/// The newest facts that have earned their place and are in no profile statement.
fn of_facts(known: &[KnownFact<'_>], profile: &[Hit], earned: &BTreeSet<&str>) -> Vec<(String, String)> {
    let lasting = known
        .iter()
        .filter(|fact| fact.is_current && earned.contains(fact.id));
    let newest = lasting
        .take(FACTS_MAX)
        .filter(|fact| !is_in_profile(profile, fact.text));
    newest
        .map(|fact| (fact.id.to_owned(), fact.text.to_owned()))
        .collect()
}
