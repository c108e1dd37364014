//! `reflect_episodes`: merges several episodes about the same subject into one more episode.
//!
//! Owns: the weekly run over every user, off by default. Never: removing an episode that a person wrote or that came
//! from messages.

use crate::{Failure, RunContext, RunOutcome, Strategy, Triggers};
use async_trait::async_trait;
use extract::consolidate::cluster::{Member, Nearness, clusters};
use extract::consolidate::reflect::{
    KnownEpisode, Merged, MergedEpisode, Plan, merged, parse_answer, plans, request,
};
use memory::{Curate, Engine};
use model::{Doc, DocKind, Entry, EntryId, EntryKind, Origin, Owner, Parent, ParentKind, Scope};

use crate::strategies::support::{NO_ANSWER, ask, by_rules, curated, failed, owners, with_dropped};

/// The strategy's name.
pub(super) const NAME: &str = "reflect_episodes";

/// The strategy.
#[derive(Debug)]
pub(super) struct ReflectEpisodes {
    pub(super) engine: Engine,
    pub(super) nearness: Nearness,
}

#[async_trait]
impl Strategy for ReflectEpisodes {
    fn name(&self) -> &'static str {
        NAME
    }

    fn triggers(&self) -> Triggers {
        Triggers {
            cron: Some("0 2 * * 1".into()),
            ..Triggers::default()
        }
    }

    async fn run(&self, context: &RunContext) -> Result<RunOutcome, Failure> {
        let (mut count, mut dropped) = (0, 0);
        for (scope, owner) in owners(&self.engine, context).await? {
            let (merged, left_out) = self.reflect(context, &scope, &owner).await?;
            (count, dropped) = (count + merged, dropped + left_out);
        }
        let change = format!("{count} clusters merged into one episode each");
        Ok(RunOutcome::of(with_dropped(change, dropped)))
    }
}

impl ReflectEpisodes {
    /// The number of merged episodes, and the number of a model's sentences that were left out.
    async fn reflect(
        &self,
        context: &RunContext,
        scope: &Scope,
        owner: &Owner,
    ) -> Result<(usize, usize), Failure> {
        let rows = self.engine.rows(scope, owner).await.map_err(failed)?;
        let (merged_ones, first): (Vec<&Doc>, Vec<&Doc>) = rows
            .iter()
            .filter(|doc| doc.kind == DocKind::Entry(EntryKind::Episode))
            .partition(|doc| cluster_of(doc).is_some());
        let known: Vec<KnownEpisode<'_>> = first.iter().map(|doc| known_episode(doc)).collect();
        let members: Vec<Member<'_>> = first.iter().map(|doc| member(doc)).collect();
        let nearness = Nearness {
            cosine_min: self.engine.own_cosine(self.nearness.cosine_min).await,
            ..self.nearness
        };
        let found: Vec<Vec<&KnownEpisode<'_>>> = clusters(&members, nearness)
            .into_iter()
            .map(|places| places.into_iter().map(|at| &known[at]).collect())
            .collect();
        let present: Vec<MergedEpisode<'_>> = merged_ones.iter().filter_map(|doc| known_merge(doc)).collect();
        let planned = plans(&found, &present);
        let mut dropped = 0;
        for plan in &planned {
            let Some(((one, left_out), author)) = self.tell(context, plan).await else {
                continue;
            };
            dropped += left_out;
            let put = vec![entry(one, scope, owner, author)];
            let remove = plan.replaces.iter().map(|id| EntryId::new(id.as_str()));
            let curate = Curate::new(scope, owner, put, remove.collect());
            curated(&self.engine, context, curate).await?;
        }
        Ok((planned.len(), dropped))
    }

    async fn tell(&self, context: &RunContext, plan: &Plan<'_>) -> Option<((Merged, usize), String)> {
        let zone = &self.engine.settings().zone;
        let read = |answer: &str| parse_answer(answer, &plan.members, zone).ok_or(NO_ANSWER);
        let said = ask(context, request(&plan.members, zone), read).await;
        said.or_else(|| Some(((merged(&plan.members, zone)?, 0), by_rules())))
    }
}

fn cluster_of(doc: &Doc) -> Option<&str> {
    let parent = doc.parent.as_ref()?;
    (parent.kind == ParentKind::Cluster).then_some(parent.id.as_str())
}

fn known_episode(doc: &Doc) -> KnownEpisode<'_> {
    KnownEpisode {
        id: &doc.key.id,
        subject: &doc.subject,
        summary: &doc.summary,
        time: doc.time,
        sources: &doc.sources,
        senders: &doc.senders,
    }
}

fn member(doc: &Doc) -> Member<'_> {
    Member {
        id: &doc.key.id,
        time: doc.time,
        vector: doc.vector.as_deref().unwrap_or_default(),
    }
}

fn known_merge(doc: &Doc) -> Option<MergedEpisode<'_>> {
    Some(MergedEpisode {
        id: &doc.key.id,
        cluster: cluster_of(doc)?,
        subject: &doc.subject,
        body: &doc.text,
        supersedes: doc.supersedes.iter().map(EntryId::as_str).collect(),
    })
}

fn entry(one: Merged, scope: &Scope, owner: &Owner, author: String) -> Entry {
    let (id, whose) = (EntryId::new(one.id()), (scope.clone(), owner.clone()));
    Entry {
        supersedes: one.members.into_iter().map(EntryId::new).collect(),
        author: Some(author),
        parent: Some(Parent::new(ParentKind::Cluster, one.cluster)),
        sources: one.sources,
        senders: one.senders,
        subject: one.subject,
        summary: one.summary,
        body: one.body,
        ..Entry::new(id, EntryKind::Episode, whose, one.time, Origin::User)
    }
}
