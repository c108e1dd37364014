//! Edits of files by people: new files, additions to headings and pages, deleted episodes.
//!
//! Owns: these edits, and reading the vault. Never: the checks of their effects.

use std::collections::BTreeSet;

use model::{Entry, EntryKind, MessageId, Owner, Page, ParentKind, Scope, SessionId, SessionKey};
use ports::{Pages, Vault as _, VaultPath};
use testkit::vault::MemoryVault;

use crate::book::{Fate, Place, Written, word};
use crate::steps::{Run, Step};
use crate::world::Held;

impl Run {
    /// A person edits files.
    pub(crate) async fn hand(&mut self, step: Step) -> Held {
        let owners: Vec<_> = self.book.owners().into_iter().collect();
        let Some((scope, owner)) = self.dice.pick(&owners) else {
            return Ok(());
        };
        match step {
            Step::WriteFile => {
                let word_of = self.book.new_word();
                let page = Pages::path_of(&self.world.vault, &scope, &owner, Page::Memory);
                let folder = page.trim_end_matches(Page::Memory.as_str());
                let path: VaultPath = format!("{folder}facts/own-{word_of}.md").into();
                let text = format!("## About the {0}\n\nThe {0} is mine.\n", word(word_of));
                self.world.vault.write(&path, text.clone());
                self.wrote((scope, owner), path, Place::File, text, word_of);
            }
            Step::WritePage => {
                let word_of = self.book.new_word();
                let page = self.dice.pick(&Page::ALL).expect("there are some");
                let path = Pages::path_of(&self.world.vault, &scope, &owner, page);
                let mut text = String::from_utf8(self.world.vault.bytes(&path).unwrap_or_default())
                    .map_err(|error| format!("{path} is no text: {error}"))?;
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                let line = format!("Never mention the {}.\n", word(word_of));
                self.world.vault.write(&path, text + &line);
                self.wrote((scope, owner), path, Place::Page, line, word_of);
            }
            _ => self.hand_on_entry(step).await?,
        }
        Ok(())
    }

    /// A person adds to an episode's heading, or takes the episode out.
    async fn hand_on_entry(&mut self, step: Step) -> Held {
        let Some((path, entry)) = self.episode().await? else {
            return Ok(());
        };
        let text = String::from_utf8(self.world.vault.bytes(&path).unwrap_or_default());
        let text = text.map_err(|error| format!("{path} is no text: {error}"))?;
        let mark = mark_of(&entry);
        let (begin, at) = heading_of(&text, &path, &entry)?;
        let owner = (entry.scope.clone(), entry.owner.clone());
        if step == Step::TakeOut {
            let end = "<!-- end -->\n";
            let until = text[at..]
                .find(end)
                .map_or(text.len(), |found| at + found + end.len());
            self.note(format_args!("a person takes out {} of {path}", entry.id));
            self.world
                .vault
                .write(&path, format!("{}{}", &text[..begin], &text[until..]));
            let turns: BTreeSet<MessageId> = entry.turns.iter().map(|turn| turn.id.clone()).collect();
            self.book.is_taken_out(&entry.id, &turns);
        } else if !text[begin..at].contains("(mine: ") {
            let word_of = self.book.new_word();
            let heading = format!("{} (mine: {}){mark}", &text[begin..at], word(word_of));
            self.world.vault.write(
                &path,
                format!("{}{heading}{}", &text[..begin], &text[at + mark.len()..]),
            );
            let place = Place::Heading(entry.id.clone(), session_of(&entry).session);
            self.wrote(owner, path, place, heading, word_of);
        }
        Ok(())
    }

    pub(crate) fn wrote(
        &mut self,
        owner: (Scope, Owner),
        path: VaultPath,
        place: Place,
        text: String,
        word: usize,
    ) {
        self.note(format_args!("a person writes {text:?} in {path}"));
        self.book.written.push(Written {
            owner,
            path,
            place,
            text,
            word,
            fate: Fate::Kept(()),
            process: self.processes,
        });
    }

    /// An episode of a memcell, with its file.
    pub(crate) async fn episode(&mut self) -> Held<Option<(VaultPath, Entry)>> {
        let entries = self.entries().await?.into_iter();
        let episodes: Vec<_> = entries.filter(|(_, entry)| is_of_memcell(entry)).collect();
        Ok(self.dice.pick(&episodes))
    }

    /// Every entry of the vault, with its file.
    pub(crate) async fn entries(&mut self) -> Held<Vec<(VaultPath, Entry)>> {
        entries_of(&self.world.vault).await
    }
}

/// Every entry of a vault, with its file.
pub(crate) async fn entries_of(vault: &MemoryVault) -> Held<Vec<(VaultPath, Entry)>> {
    let mut entries = Vec::new();
    for stat in vault.scan().await.map_err(|error| error.to_string())? {
        let file = vault.read(&stat.path).await.map_err(|error| error.to_string())?;
        let read = file.into_iter().flat_map(|file| file.entries);
        entries.extend(read.map(|read| (stat.path.clone(), read.entry)));
    }
    Ok(entries)
}

/// The text that follows an entry's heading in its line.
pub(crate) fn mark_of(entry: &Entry) -> String {
    format!(" <!--{} ", entry.id)
}

/// The begin and the end of an entry's heading in the text of its file.
pub(crate) fn heading_of(text: &str, path: &VaultPath, entry: &Entry) -> Held<(usize, usize)> {
    let at = text
        .find(&mark_of(entry))
        .ok_or_else(|| format!("{path} does not name {}", entry.id))?;
    let begin = text[..at]
        .rfind("## ")
        .ok_or_else(|| format!("{path} has no heading"))?;
    Ok((begin, at))
}

/// Whether an entry is the episode of a memcell.
pub(crate) fn is_of_memcell(entry: &Entry) -> bool {
    let parent = entry.parent.as_ref();
    entry.kind == EntryKind::Episode && parent.is_some_and(|parent| parent.kind == ParentKind::Memcell)
}

/// The session of an episode.
pub(crate) fn session_of(entry: &Entry) -> SessionKey {
    SessionKey {
        scope: entry.scope.clone(),
        session: entry.session.clone().unwrap_or_else(|| SessionId::new("")),
    }
}
