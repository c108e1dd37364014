//! One memcell to Markdown and index, for each of its owners, exactly once.
//!
//! Owns: the order vault, index, record, and what a second attempt finds. Never: what a memcell tells (`telling`).
//!
//! Facts are appended before their episode, so an episode that stands says that everything of it was written. A
//! second attempt that finds it takes the file as the truth, hand edits included; one that does not find it appends
//! again under the same ids.

use std::collections::{BTreeMap, BTreeSet};

use model::{Cell, CellId, Doc, Entry, EntryId, EntryKind, Owner};
use ports::{CandidateQuery, FileMark, FileRecord, LedgerError, VaultError, VaultPath, Written};

use crate::api::EngineError;
use crate::cause::chain;
use crate::corpora::View;
use crate::interview::Trouble;
use crate::sync;
use crate::telling::{self, KnownFact, Telling};
use crate::world::World;

/// Facts that a large owner's index may bring for each new fact.
const CANDIDATES: usize = 50;

/// Why an attempt failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JobError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Model(#[from] Trouble),
    /// Something of the memcell was forgotten while it was being told.
    #[error("the memcell changed meanwhile")]
    Changed,
    #[error("the job ended in a panic: {0}")]
    Panic(String),
}

impl From<LedgerError> for JobError {
    fn from(error: LedgerError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<VaultError> for JobError {
    fn from(error: VaultError) -> Self {
        Self::Engine(error.into())
    }
}

/// Writes a memcell; a memcell that was forgotten is nothing to write.
pub(crate) async fn write(world: &World, id: &CellId, attempt: u32) -> Result<(), JobError> {
    let Some(cell) = world.parts.transcripts.cell(id).await? else {
        return Ok(());
    };
    let telling = telling::tell(world, &cell, attempt).await?;
    for owner in &cell.owners {
        let one = Writing {
            world,
            cell: &cell,
            owner,
            telling: &telling,
        };
        one.write(attempt == 1).await?;
    }
    world.corpora.told(&cell.session, &cell.messages);
    world.passes.forget_answer(id);
    Ok(())
}

/// One memcell for one owner.
struct Writing<'a> {
    world: &'a World,
    cell: &'a Cell,
    owner: &'a Owner,
    telling: &'a Telling,
}

impl Writing<'_> {
    async fn write(&self, is_first: bool) -> Result<(), JobError> {
        let _shared = self.world.gate.read().await;
        let owner = (self.cell.session.scope.clone(), self.owner.clone());
        let _own = self.world.owners.lock(&owner).await;
        match self.world.parts.transcripts.cell(&self.cell.id).await? {
            Some(now) if now.messages != self.cell.messages => return Err(JobError::Changed),
            Some(now) if now.owners.contains(self.owner) => {}
            _ => return Ok(()),
        }
        if !is_first && let Some(paths) = self.standing().await? {
            return self.index_files(paths).await;
        }
        let known = self.known_facts().await?;
        let (facts, episode) = self.telling.entries(self.cell, self.owner, known);
        let vault = &self.world.parts.vault;
        let paths = facts.iter().chain([&episode]).map(|entry| vault.path_of(entry));
        let _writing = self.world.dirty.writing(paths.collect());
        let mut written = Vec::new();
        if !facts.is_empty() {
            written = vault.append(&facts, is_first).await?;
        }
        written.extend(vault.append(std::slice::from_ref(&episode), is_first).await?);
        if !is_first {
            let paths = written.into_iter().map(|written| written.stat.path);
            return self.index_files(paths.collect()).await;
        }
        let entries: BTreeMap<EntryId, Entry> = facts
            .into_iter()
            .chain([episode])
            .map(|entry| (entry.id.clone(), entry))
            .collect();
        Ok(self.index_entries(&entries, written).await?)
    }

    /// The files in which an earlier attempt may have written, if it wrote everything.
    async fn standing(&self) -> Result<Option<BTreeSet<VaultPath>>, JobError> {
        let vault = &self.world.parts.vault;
        let episode = self.telling.episode_entry(self.cell, self.owner);
        let path = vault.path_of(&episode);
        let file = vault.read(&path).await?;
        if !file.is_some_and(|file| file.entries.iter().any(|read| read.entry.id == episode.id)) {
            return Ok(None);
        }
        let mut paths = BTreeSet::from([path]);
        let mut fact = Entry {
            kind: EntryKind::Fact,
            turns: Vec::new(),
            ..episode
        };
        for message in &self.cell.messages {
            fact.time = message.time;
            paths.insert(vault.path_of(&fact));
        }
        Ok(Some(paths))
    }

    async fn index_files(&self, paths: BTreeSet<VaultPath>) -> Result<(), JobError> {
        for path in paths {
            sync::one_file(self.world, &path).await?;
        }
        Ok(())
    }

    /// The facts that hold for the owner. One with very many rows is asked for those near the new facts only.
    async fn known_facts(&self) -> Result<Vec<KnownFact>, EngineError> {
        let scope = &self.cell.session.scope;
        let mut texts = self.telling.fact_texts().peekable();
        if texts.peek().is_none() {
            return Ok(Vec::new());
        }
        if let View::Hot(hot) = self.world.corpora.view(self.world, scope, self.owner).await? {
            return Ok(hot.read(|corpus| telling::known_facts(corpus.iter().map(|doc| &**doc), self.cell)));
        }
        let mut near: BTreeMap<_, Doc> = BTreeMap::new();
        for text in texts {
            let query = CandidateQuery {
                scope: scope.clone(),
                owner: self.owner.clone(),
                text: text.to_owned(),
                vector: None,
                limit: CANDIDATES,
            };
            let docs = self.world.parts.index.candidates(&query).await?;
            near.extend(docs.into_iter().map(|doc| (doc.key.id.clone(), doc)));
        }
        Ok(telling::known_facts(near.values(), self.cell))
    }

    /// Indexes what was just appended, without reading it back.
    async fn index_entries(
        &self,
        entries: &BTreeMap<EntryId, Entry>,
        written: Vec<Written>,
    ) -> Result<(), EngineError> {
        let world = self.world;
        let mut docs = Vec::new();
        let mut records = Vec::new();
        for Written { stat, before, ids } in written {
            let mut marks = Vec::new();
            for (id, digest) in ids {
                let rows = entries
                    .get(&id)
                    .map_or_else(Vec::new, |entry| Doc::of_entry(entry, &stat.path));
                let docs_of_entry = rows.iter().map(|doc| doc.key.id.clone()).collect();
                marks.push(FileMark {
                    entry: id,
                    digest,
                    docs: docs_of_entry,
                });
                docs.extend(rows);
            }
            if world.records.stat(&stat.path).await? == before {
                let (scope, owner) = (self.cell.session.scope.clone(), self.owner.clone());
                records.push(FileRecord {
                    stat,
                    scope,
                    owner,
                    marks,
                    problem: None,
                });
            } else {
                // Somebody edited the file, and nobody has looked yet: a record would hide it.
                world.dirty.add(stat.path);
            }
        }
        if !self.embed(&mut docs).await {
            // Without a record the file is looked at again, when the model may answer.
            records
                .drain(..)
                .for_each(|record| world.dirty.add(record.stat.path));
        }
        // Copied even for an owner who is not at hand: a search that comes while the index is written reads the rows
        // before they are there, and would never hear of them.
        let copies = docs.clone();
        world.writer.apply(docs, Vec::new()).await?;
        world
            .corpora
            .rows(&self.cell.session.scope, self.owner, copies, Vec::new());
        if !records.is_empty() {
            world.records.extend(records).await?;
        }
        Ok(())
    }

    async fn embed(&self, docs: &mut [Doc]) -> bool {
        if !self.world.gauge.takes_vectors() {
            return true;
        }
        match self.world.rows.embed_with(docs, &self.cell.messages).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(
                    error = chain(&error),
                    "a memory is found by its words only until the model answers again"
                );
                false
            }
        }
    }
}
