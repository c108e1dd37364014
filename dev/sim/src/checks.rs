//! Bringing a run to rest, the invariants that hold at rest, and those that hold right after a start.
//!
//! Owns: the comparison of the stores with the book. Never: changing a store.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use memory::{Found, Hit};
use model::{
    Cell, CellId, Doc, DocKey, Entry, EntryId, EntryKind, Message, MessageId, Owner, Scope, SessionKey, Zone,
};
use ports::runs::{Cause, Run as BackgroundRun, RunQuery, RunState};
use ports::{JobKind, TaskQuery, VaultPath};
use testkit::ledger::is_over;

use crate::backend::Mood;
use crate::book::{Fate, Place, Talk, Word, word, words_in};
use crate::hands::{is_of_memcell, session_of};
use crate::steps::Run;
use crate::world::{Held, Ledger};

/// Maximum number of retries of a refused request, and of polls for open runs. Beyond it the run counts as
/// stuck.
const TRIES: usize = 200;

/// Scores that differ by less count as equal.
const SCORE_APART: f32 = 1e-6;

/// Number of questions asked before and after a rebuild.
const ASKED: usize = 8;

/// By message: in how many buffers and in how many memcells it is.
type Places = BTreeMap<MessageId, (usize, usize)>;

impl Run {
    /// Lifts all faults, sets the models to well, retries every open request and finishes all work. Then it
    /// checks everything.
    pub(crate) async fn rest(&mut self) -> Held {
        self.world.faults.lift();
        self.world.backend.set(Mood::Well);
        self.world.process_mut().talk.take();
        for tried in 0.. {
            if self.promises.is_empty() {
                break;
            }
            if tried == TRIES {
                return Err(format!("it is never answered: {:?}", self.promises[0]));
            }
            self.retry().await?;
            self.world.clock.advance(Duration::from_secs(1));
        }
        self.settle().await?;
        self.note("at rest");
        self.check().await?;
        self.check_rebuild().await
    }

    /// Waits until the jobs are done and every run is over.
    async fn settle(&mut self) -> Held {
        let mut has_revived = false;
        for tried in 1..TRIES {
            let engine = self.engine();
            let settled = self.world.drive(engine.settle()).await?;
            if self.heard(settled)?.is_some_and(|failed| failed > 0) {
                return Err("invariant 2: a job was given up".to_owned());
            }
            let synced = self.world.drive(engine.sync()).await?;
            self.heard(synced)?;
            let status = self.world.drive(engine.status()).await?;
            let status = self.heard(status)?.ok_or("there is no status")?;
            if status.loop_panics > 0 {
                return Err(format!("{} background loops panicked", status.loop_panics));
            }
            let open = self.runs().await?;
            let is_open = |run: &BackgroundRun| !is_over(run.state) && run.cause != Cause::Cron;
            if !open.iter().any(is_open) && status.jobs.queued + status.jobs.processing == 0 {
                if has_revived {
                    return Ok(());
                }
                // This takes time, in which buffers are cut.
                self.revive().await?;
                has_revived = true;
                continue;
            }
            self.world.breathe(100).await;
            // Some runs wait for a quiet hour, or for the next day.
            let seconds = 10 * tried * tried;
            self.world.clock.advance(Duration::from_secs(seconds as u64));
        }
        Err(format!("a run never comes to an end: {:?}", self.runs().await?))
    }

    /// Triggers every dead-lettered run again, as a person would. Each must succeed.
    async fn revive(&mut self) -> Held {
        let given_up = self.runs().await?;
        let given_up = given_up.iter().filter(|run| run.state == RunState::DeadLetter);
        let names: BTreeSet<String> = given_up.map(|run| run.work.strategy.clone()).collect();
        for name in names {
            self.note(format_args!("{name} is tried again"));
            let offline = self.world.process().offline.clone();
            let triggered = offline.trigger(&name, Duration::from_hours(1), true);
            let triggered = self
                .world
                .drive(triggered)
                .await?
                .map_err(|error| error.to_string())?;
            let runs = triggered.map(|triggered| triggered.runs).unwrap_or_default();
            if let Some(run) = runs.iter().find(|run| run.state != RunState::Success) {
                return Err(format!("a run that was given up fails again: {run:?}"));
            }
        }
        Ok(())
    }

    pub(crate) async fn runs(&mut self) -> Held<Vec<BackgroundRun>> {
        let query = RunQuery {
            page: 1,
            page_size: 1_000_000,
            ..RunQuery::default()
        };
        let page = self.world.ledger()?.runs.page(&query).await;
        Ok(page.map_err(|error| error.to_string())?.runs)
    }

    async fn check(&mut self) -> Held {
        let cells = self.check_places().await?;
        let entries = self.entries().await?;
        self.check_episodes(&cells, &entries)?;
        self.check_index(&entries)?;
        self.check_gone(&entries)?;
        self.check_written()?;
        self.check_foresights(&entries)?;
        self.check_agents(&cells, &entries)?;
        self.check_history().await
    }

    /// Invariant 1: an acknowledged message is once in the buffer or in exactly one memcell; a forgotten one
    /// is in neither.
    pub(crate) async fn check_places(&mut self) -> Held<Vec<Cell>> {
        let ledger = self.world.ledger()?;
        let cells = self.cells(&ledger).await?;
        let mut messages = Vec::new();
        for key in self.book.sessions.keys() {
            let buffer = ledger
                .transcripts
                .buffer(key)
                .await
                .map_err(|error| error.to_string())?;
            messages.extend(buffer.into_iter().map(|message| (message, true)));
        }
        let in_cells = cells.iter().flat_map(|cell| &cell.messages);
        messages.extend(in_cells.map(|message| (message.clone(), false)));
        let mut places = Places::new();
        let mut counts: BTreeMap<Word, usize> = BTreeMap::new();
        for (message, is_buffered) in messages {
            let (buffers, cells) = places.entry(message.id.clone()).or_default();
            *(if is_buffered { buffers } else { cells }) += 1;
            for word in words_in(message.text().as_bytes()) {
                *counts.entry(word).or_default() += 1;
            }
        }
        for (id, place) in &places {
            if *place != (1, 0) && *place != (0, 1) {
                return Err(format!(
                    "invariant 1: {id} is in {} buffers and {} memcells",
                    place.0, place.1
                ));
            }
        }
        for said in &self.book.said {
            if let Fate::Kept(id) = &said.fate
                && !places.contains_key(id)
            {
                return Err(format!(
                    "invariant 1: {id}, `{}`, was acknowledged and is nowhere",
                    word(said.word)
                ));
            }
        }
        for (number, (least, most)) in self.book.counts() {
            let count = counts.get(&number).copied().unwrap_or_default();
            if !(least..=most).contains(&count) {
                let word = word(number);
                return Err(format!(
                    "invariant 1: `{word}` is there {count} times, not {least} to {most}"
                ));
            }
        }
        Ok(cells)
    }

    /// Every memcell, found through the job that writes it.
    async fn cells(&self, ledger: &Ledger) -> Held<Vec<Cell>> {
        let scopes: BTreeSet<&Scope> = self.book.sessions.keys().map(|key| &key.scope).collect();
        let mut cells = Vec::new();
        for scope in scopes {
            let query = TaskQuery {
                scope: scope.clone(),
                session: None,
                state: None,
                kinds: vec![JobKind::WriteCell],
                made_from: None,
                made_before: None,
                page: 1,
                page_size: 1_000_000,
            };
            let jobs = ledger
                .jobs
                .page(&query)
                .await
                .map_err(|error| error.to_string())?
                .jobs;
            for job in jobs {
                let cell = ledger.transcripts.cell(&CellId::new(job.subject)).await;
                cells.extend(cell.map_err(|error| error.to_string())?);
            }
        }
        Ok(cells)
    }

    /// Invariant 2: each memcell has exactly one episode in the files of each owner, and no other episode
    /// exists.
    fn check_episodes(&self, cells: &[Cell], entries: &[(VaultPath, Entry)]) -> Held {
        let mut standing: BTreeMap<(&Scope, &Owner, &EntryId), &Entry> = BTreeMap::new();
        for (path, entry) in entries {
            let key = (&entry.scope, &entry.owner, &entry.id);
            if standing.insert(key, entry).is_some() {
                return Err(format!(
                    "invariant 2: {} is in the vault twice, also in {path}",
                    entry.id
                ));
            }
        }
        let mut told: BTreeSet<EntryId> = BTreeSet::new();
        for cell in cells {
            let suffix = cell.id.as_str().trim_start_matches("mc_");
            let id = EntryId::new(format!("ep_{suffix}"));
            told.insert(id.clone());
            if self.is_parted(&cell.session) || self.book.taken.contains(&id) {
                continue;
            }
            for owner in &cell.owners {
                let episode = standing.get(&(&cell.session.scope, owner, &id));
                let turns = episode.map(|entry| entry.turns.iter().map(|turn| &turn.id).collect::<Vec<_>>());
                if turns != Some(cell.messages.iter().map(|message| &message.id).collect()) {
                    return Err(format!(
                        "invariant 2: {} is not told to {owner:?} as it was said: {turns:?}",
                        cell.id
                    ));
                }
            }
        }
        for (path, entry) in entries.iter().filter(|(_, entry)| is_of_memcell(entry)) {
            if !told.contains(&entry.id) && !self.is_parted(&session_of(entry)) {
                return Err(format!(
                    "invariant 2: {} in {path} tells a memcell that is not there",
                    entry.id
                ));
            }
        }
        Ok(())
    }

    pub(crate) fn is_parted(&self, session: &SessionKey) -> bool {
        self.book
            .sessions
            .get(session)
            .is_none_or(|session| session.parted)
    }

    /// The index shows the vault and nothing else.
    fn check_index(&self, entries: &[(VaultPath, Entry)]) -> Held {
        let docs = entries
            .iter()
            .flat_map(|(path, entry)| extract::digested(Doc::of_entry(entry, path), entry, &Zone::utc()));
        let expected: BTreeMap<DocKey, Doc> = docs.map(|doc| (doc.key.clone(), doc)).collect();
        let mut rows: BTreeMap<DocKey, Doc> = BTreeMap::new();
        for row in self.world.index.rows() {
            rows.insert(row.key.clone(), Doc { vector: None, ..row });
        }
        if let Some(key) = expected.keys().find(|key| !rows.contains_key(key)) {
            return Err(format!("the index does not show {key:?}"));
        }
        if let Some(key) = rows.keys().find(|key| rows.get(key) != expected.get(key)) {
            return Err(format!("the index shows {key:?}, which is not so in the vault"));
        }
        Ok(())
    }

    /// Forgotten words are in no file of the vault, no row of the index and no byte of the ledger.
    fn check_gone(&self, entries: &[(VaultPath, Entry)]) -> Held {
        let alive = self.book.alive();
        let check = |bytes: &[u8], place: &str| match words_in(bytes).difference(&alive).next() {
            Some(gone) => Err(self.forgotten(*gone, bytes, place)),
            None => Ok(()),
        };
        for path in self.world.vault.paths() {
            check(&self.world.vault.bytes(&path).unwrap_or_default(), &path)?;
        }
        for row in self.world.index.rows() {
            let text = format!("{} {} {}", row.subject, row.summary, row.text);
            check(text.as_bytes(), &format!("the index, {:?}", row.key))?;
        }
        for bytes in self.world.ledger_files() {
            check(&bytes, "the ledger's files")?;
        }
        let mut ids = entries.iter();
        let is_gone = |entry: &Entry| {
            let key = (entry.scope.clone(), entry.owner.clone(), entry.id.clone());
            self.book.gone.contains(&key)
        };
        match ids.find(|(_, entry)| is_gone(entry)) {
            Some((path, entry)) => Err(format!("{} was forgotten and is in {path}", entry.id)),
            None => Ok(()),
        }
    }

    pub(crate) fn forgotten(&self, number: Word, bytes: &[u8], place: &str) -> String {
        let text = String::from_utf8_lossy(bytes);
        let line = text.lines().find(|line| line.contains(&word(number)));
        let said = self.book.said.iter().find(|said| said.word == number);
        let written = self.book.written.iter().find(|written| written.word == number);
        format!("{said:?} {written:?} was forgotten and is in {place}: {line:?}")
    }

    /// Each text that a person wrote is in its file, byte for byte.
    fn check_written(&self) -> Held {
        for written in self.book.written.iter().filter(|one| one.fate == Fate::Kept(())) {
            let bytes = self.world.vault.bytes(&written.path).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let stands = match written.place {
                Place::File => text == written.text,
                Place::Heading(..) | Place::Page | Place::Skill => text.contains(&written.text),
            };
            if !stands {
                return Err(format!(
                    "{:?} wrote {:?} in {}, which holds {text}",
                    written.owner, written.text, written.path
                ));
            }
        }
        Ok(())
    }

    /// No run is lost: an acknowledged message that announces an event has a foresight.
    fn check_foresights(&self, entries: &[(VaultPath, Entry)]) -> Held {
        let counts = self.book.counts();
        let told = entries.iter().filter(|(_, entry)| is_of_memcell(entry));
        let told: BTreeSet<&MessageId> = told
            .flat_map(|(_, entry)| entry.turns.iter().map(|turn| &turn.id))
            .collect();
        let foreseen = entries
            .iter()
            .filter(|(_, entry)| entry.kind == EntryKind::Foresight);
        let foreseen: BTreeSet<&MessageId> = foreseen.flat_map(|(_, entry)| &entry.sources).collect();
        for said in &self.book.said {
            let announces = said.talk == Talk::Plan && said.user.is_some() && counts[&said.word].1 == 1;
            let Some(id) = kept(said).filter(|_| announces && !said.untold && !self.is_parted(&said.session))
            else {
                continue;
            };
            if told.contains(id) && !foreseen.contains(id) {
                return Err(format!(
                    "a run was lost: nothing foresees `{}`, said in {id}",
                    word(said.word)
                ));
            }
        }
        Ok(())
    }

    /// Invariant 3: a rebuilt index gives the same answers.
    async fn check_rebuild(&mut self) -> Held {
        let engine = self.engine();
        let state = self.state().await?;
        let mut asked = Vec::new();
        for _ in 0..ASKED {
            let Some((scope, owner, word)) = self.own_word() else {
                return Ok(());
            };
            let found = self.find(&scope, &owner, word).await?;
            asked.push((scope, owner, word, found));
        }
        let rebuilt = self.world.drive(engine.rebuild()).await?;
        rebuilt.map_err(|error| format!("it cannot be rebuilt: {error}"))?;
        for (scope, owner, word, before) in asked {
            let found = self.find(&scope, &owner, word).await;
            let after = found.map_err(|error| format!("invariant 3, after a rebuild: {error}"))?;
            if self.state().await? != state || self.is_bare() {
                // A run wrote meanwhile, or rows without vectors got them.
                return Ok(());
            }
            if let Some(differs) = before
                .zip(after)
                .and_then(|(before, after)| difference(&before, &after))
            {
                return Err(format!(
                    "invariant 3: a rebuild changes what {owner:?} finds for `{}`: {differs}",
                    self::word(word)
                ));
            }
        }
        Ok(())
    }
}

impl Run {
    /// The sources of answers: the files of the vault and the buffered messages.
    async fn state(&mut self) -> Held<(Vec<Option<Vec<u8>>>, Vec<Message>)> {
        let vault = &self.world.vault;
        let files = vault.paths().iter().map(|path| vault.bytes(path)).collect();
        let ledger = self.world.ledger()?;
        let mut buffered = Vec::new();
        for key in self.book.sessions.keys() {
            let buffer = ledger.transcripts.buffer(key).await;
            buffered.extend(buffer.map_err(|error| error.to_string())?);
        }
        Ok((files, buffered))
    }
}

/// The first difference of two answers, if any.
fn difference(before: &Found, after: &Found) -> Option<String> {
    let mut all = Vec::new();
    let lists = [
        (&before.memories, &after.memories),
        (&before.messages, &after.messages),
    ];
    for (before, after) in lists {
        let at = before.iter().zip(after).position(|(before, after)| {
            (before.score - after.score).abs() > SCORE_APART
                || (&before.doc, &before.superseded_by) != (&after.doc, &after.superseded_by)
        });
        let end = before.len().min(after.len());
        if let Some(at) = at.or((before.len() != after.len()).then_some(end)) {
            let brief = |hits: &[Hit]| {
                let hit = |hit: &Hit| {
                    (
                        hit.doc.key.id.clone(),
                        hit.score,
                        hit.superseded_by.clone(),
                        hit.why.clone(),
                    )
                };
                hits.iter().skip(at).take(2).map(hit).collect::<Vec<_>>()
            };
            all.push(format!("from {at} on {:?} was {:?}", brief(after), brief(before)));
        }
    }
    (!all.is_empty()).then(|| all.join(" AND "))
}

/// The id of an acknowledged message.
fn kept(said: &crate::book::ClientMessage) -> Option<&MessageId> {
    match &said.fate {
        Fate::Kept(id) => Some(id),
        _ => None,
    }
}
