//! The vault's own history: undoing runs, and the check of every recorded change.
//!
//! Owns: undo, and that check. Never: the texts that a run writes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use memory::RecordedChange;
use model::Entry;
use ports::{By, VaultPath};

use crate::book::{Fate, Place, words_in};
use crate::steps::Run;
use crate::world::Held;

/// An undone run is one of this many that changed something last.
const UNDONE: usize = 12;
/// Parts of the paths that the runs of each strategy may change.
const TOUCHES: [(&str, &[&str]); 5] = [
    ("extract_foresight", &["/foresights/"]),
    ("extract_user_profile", &["/profile"]),
    ("extract_agent_case", &["/cases/", "/skills/"]),
    ("extract_agent_skill", &["/skills/"]),
    ("dream", &["/users/"]),
];

impl Run {
    /// A person undoes a run.
    pub(crate) async fn undo(&mut self) -> Held {
        let changes = self.log().await;
        // The read may meet a planned fault.
        let Ok(changes) = changes else { return Ok(()) };
        let runs: Vec<&ports::Run> = changes.iter().filter_map(run_of).take(UNDONE).collect();
        let Some(run) = self.dice.pick(&runs).cloned() else {
            return Ok(());
        };
        self.note(format_args!("undo {} of {}", run.id, run.strategy));
        let (mut touched, mut added, mut removed) = (String::new(), String::new(), String::new());
        for change in changes.iter().filter(|change| run_of(change) == Some(&run)) {
            let Ok(diff) = self.diff(change).await else {
                return Ok(());
            };
            let headings = |sign: &str| {
                diff.lines()
                    .filter(|line| line.starts_with(sign))
                    .filter(|line| line[1..].starts_with("## ") || line[1..].starts_with("- "))
                    .collect::<String>()
            };
            added += &headings("+");
            removed += &headings("-");
            touched += &diff;
        }
        let names = |text: &str, entry: &Entry| text.contains(&format!("<!--{} ", entry.id));
        for (_, entry) in self.entries().await? {
            if names(&touched, &entry) {
                self.book.is_doubtful(&entry);
            }
        }
        let quoted = words_in(touched.as_bytes());
        for written in &mut self.book.written {
            let may_go = quoted.contains(&written.word) || written.place == Place::Skill;
            if may_go && written.fate == Fate::Kept(()) {
                written.fate = Fate::Unsure;
            }
        }
        let engine = self.engine();
        let undone = self.world.drive(engine.undo(None, &run.id)).await?;
        let Some(Some(change)) = self.heard(undone)? else {
            return Ok(());
        };
        let is_told = matches!(&change.by, By::Run { undoes: Some(of), .. } if *of == run.id);
        let entries = self.entries().await?;
        let is_its = |entry: &Entry| names(&added, entry) && !names(&removed, entry);
        // Another run wrote another owner's copy. It has the same id, in another file.
        let is_touched = |path: &VaultPath| touched.contains(&format!("a/{path}\n"));
        let mut standing = entries.iter().filter(|(path, _)| is_touched(path));
        let stands = standing.find(|(_, entry)| is_its(entry));
        match stands {
            _ if !is_told => Err(format!("{change:?} does not say that it takes back {run:?}")),
            Some((path, entry)) => Err(format!(
                "{} in {path} was written by {run:?}, which was taken back",
                entry.id
            )),
            None => Ok(()),
        }
    }

    async fn log(&self) -> Held<Vec<RecordedChange>> {
        let engine = self.engine();
        let log = self
            .world
            .drive(engine.history(None, None, (None, usize::MAX)))
            .await?;
        log.map_err(|error| error.to_string())
    }

    async fn diff(&self, change: &RecordedChange) -> Held<String> {
        let (engine, id) = (self.engine(), change.id.to_string());
        let diff = self.world.drive(engine.diff(None, &id)).await?;
        diff.map_err(|error| error.to_string())
    }

    /// Checks four rules. Every change is recorded. No change holds forgotten words. Each change of a run
    /// names that run and touches only files that the run may write. A person's text is recorded as theirs.
    pub(crate) async fn check_history(&mut self) -> Held {
        self.record_all().await;
        let known = self.runs().await?.into_iter();
        let known: BTreeMap<String, String> =
            known.map(|run| (run.id.to_string(), run.work.strategy)).collect();
        let mut alive = self.book.alive();
        alive.extend(&self.book.past);
        let mut changes = self.log().await?;
        changes.reverse();
        let mut first_told = BTreeSet::new();
        for change in &changes {
            let diff = self.diff(change).await?;
            if let Some(gone) = words_in(diff.as_bytes()).difference(&alive).next() {
                return Err(self.forgotten(*gone, diff.as_bytes(), &format!("the history, {change:?}")));
            }
            let added: Vec<&str> = diff.lines().filter(|line| line.starts_with('+')).collect();
            let added = words_in(added.concat().as_bytes());
            let fresh: BTreeSet<_> = added.difference(&first_told).copied().collect();
            first_told.extend(added);
            let Some(run) = run_of(change) else { continue };
            let may_touch = TOUCHES.iter().find(|(strategy, _)| *strategy == run.strategy);
            let is_right = match may_touch {
                Some((strategy, parts)) => {
                    // A run that the store no longer has was about a forgotten owner.
                    let is_of = known.get(&*run.id).is_none_or(|of| of == strategy);
                    let mut files = change.files.iter();
                    is_of && files.all(|path| parts.iter().any(|part| path.contains(part)))
                }
                None => run.strategy == "remember" || run.strategy == "undo",
            };
            if !is_right {
                return Err(format!("{change:?} is of no run that could write it"));
            }
            let mut own = self
                .book
                .written
                .iter()
                .filter(|one| one.process == self.processes);
            let is_own = |place: &Place| matches!(place, Place::File | Place::Heading(..));
            if let Some(own) = own.find(|one| is_own(&one.place) && fresh.contains(&one.word)) {
                return Err(format!("{own:?} is recorded as of {run:?}"));
            }
        }
        Ok(())
    }

    /// Waits until changes outside memory are recorded; the history records them after a quiet period.
    async fn record_all(&mut self) {
        for _ in 0..3 {
            self.world.clock.advance(Duration::from_secs(11));
            self.world.breathe(100).await;
        }
    }
}

/// The run that made a change.
fn run_of(change: &RecordedChange) -> Option<&ports::Run> {
    change.by.run()
}
