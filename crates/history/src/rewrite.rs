//! Taking folders out of every change; what the changes say of other folders stays as it was.
//!
//! Owns: changes written anew, and the ids by which they are known all the same. Never: removing an object, or saying
//! which change is the newest.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use git2::{Commit, ObjectType, Oid, Tree};
use ports::{By, Debt, HistoryError};

use crate::read::by;
use crate::record::with_trailers;
use crate::repository::{HistoryTurn, io_error};

/// The file in the repository with the ids of changes that were written anew.
pub(crate) const KNOWN: &str = "quipu.changes";
const TITLE: &str = "quipu-changes 1";

/// What stands in a tree under a name: its id and its mode.
pub(crate) type TreeEntry = (Oid, i32);

/// Changes that were written anew, and the ids that they had at first: by these they stay known.
#[derive(Debug, Default, Clone)]
pub(crate) struct Rewritten {
    at_first: BTreeMap<Oid, Oid>,
    now: BTreeMap<String, Oid>,
}

impl Rewritten {
    /// What stands in the file; a file that cannot be understood says nothing.
    pub(crate) fn read(dot_git: &Path) -> Self {
        let text = fs::read_to_string(dot_git.join(KNOWN)).unwrap_or_default();
        let mut known = Self::default();
        let Some(lines) = text.strip_prefix(TITLE) else {
            return known;
        };
        for line in lines.lines() {
            let ids = line
                .split_once(' ')
                .and_then(|(at_first, now)| Some((Oid::from_str(at_first).ok()?, Oid::from_str(now).ok()?)));
            if let Some((at_first, now)) = ids {
                known.insert(now, at_first);
            }
        }
        known
    }

    /// Puts it in the file's place at once, before any change is reached by what it says.
    pub(crate) fn write(&self, dot_git: &Path) -> Result<(), HistoryError> {
        let path = dot_git.join(KNOWN);
        let mut text = format!("{TITLE}\n");
        for (at_first, now) in &self.now {
            writeln!(text, "{at_first} {now}").expect("a string takes any text");
        }
        let beside = path.with_extension("tmp");
        let written = || -> io::Result<()> {
            fs::write(&beside, text)?;
            File::open(&beside)?.sync_all()?;
            fs::rename(&beside, &path)
        };
        written().map_err(io_error(&path))
    }

    /// The id by which a change is known.
    pub(crate) fn id(&self, now: Oid) -> Oid {
        self.at_first.get(&now).copied().unwrap_or(now)
    }

    /// The only change that is known by an id with this beginning.
    pub(crate) fn find(&self, beginning: &str) -> Option<Oid> {
        let mut found = self.now.range(beginning.to_owned()..);
        let (_, now) = found.next().filter(|(id, _)| id.starts_with(beginning))?;
        let is_alone = found.next().is_none_or(|(id, _)| !id.starts_with(beginning));
        is_alone.then_some(*now)
    }

    fn insert(&mut self, now: Oid, at_first: Oid) {
        self.at_first.insert(now, at_first);
        self.now.insert(at_first.to_string(), now);
    }
}

impl HistoryTurn {
    /// The newest change, where what some debts concern is in none; and by which ids the changes are known.
    pub(crate) fn rewrite(&self, debts: &[Debt]) -> Result<(Option<Oid>, Rewritten), HistoryError> {
        let ids = self.ids()?;
        let mut known = Rewritten::default();
        let mut written: HashMap<Oid, Option<Oid>> = HashMap::new();
        for id in ids.iter().rev().copied() {
            let commit = self.git(|| self.repository.find_commit(id))?;
            let now = match self.write_anew(&commit, debts, &written)? {
                Some(now) => {
                    let at_first = self.known.id(id);
                    if now != at_first {
                        known.insert(now, at_first);
                    }
                    Some(now)
                }
                None => commit.parent_ids().next().and_then(|parent| written[&parent]),
            };
            written.insert(id, now);
        }
        let newest = ids.first().and_then(|id| written[id]);
        Ok((newest, known))
    }

    /// A change without the folders, none if nothing is left of it.
    fn write_anew(
        &self,
        commit: &Commit<'_>,
        debts: &[Debt],
        written: &HashMap<Oid, Option<Oid>>,
    ) -> Result<Option<Oid>, HistoryError> {
        let was = self.git(|| commit.tree())?;
        let tree = self.git(|| self.without_folders(&was, debts))?;
        let mut parents: Vec<Oid> = commit.parent_ids().filter_map(|id| written[&id]).collect();
        parents.dedup();
        if tree.id() == was.id() && parents.iter().copied().eq(commit.parent_ids()) {
            return Ok(Some(commit.id()));
        }
        let find = |id: &Oid| self.repository.find_commit(*id);
        let parents: Vec<Commit<'_>> = self.git(|| parents.iter().map(find).collect())?;
        let before = self.git(|| parents.first().map(Commit::tree).transpose())?;
        let is_same = before
            .as_ref()
            .map_or(tree.is_empty(), |before| before.id() == tree.id());
        let is_touching = self.git(|| touches(commit, debts))?;
        if is_touching && is_same && parents.len() < 2 {
            return Ok(None);
        }
        let message = match by(commit) {
            // Whatever it says of the folders.
            By::Run { run, undoes } if is_touching => {
                with_trailers(&self.subject(before.as_ref(), &tree)?, &run, undoes.as_ref())
            }
            By::Person { .. } if is_touching => self.subject(before.as_ref(), &tree)?,
            _ => String::from_utf8_lossy(commit.message_bytes()).into_owned(),
        };
        let parents: Vec<&Commit<'_>> = parents.iter().collect();
        let (author, committer) = (commit.author(), commit.committer());
        let anew = || {
            self.repository
                .commit(None, &author, &committer, &message, &tree, &parents)
        };
        self.git(anew).map(Some)
    }

    fn without_folders(&self, tree: &Tree<'_>, debts: &[Debt]) -> Result<Tree<'_>, git2::Error> {
        let mut left = Some((tree.id(), 0));
        for debt in debts {
            left = self.put(left, &parts(debt), None)?;
        }
        self.tree(left)
    }

    /// A tree, the empty one where nothing stands.
    pub(crate) fn tree(&self, standing: Option<TreeEntry>) -> Result<Tree<'_>, git2::Error> {
        let id = match standing {
            Some((id, _)) => id,
            None => self.repository.treebuilder(None)?.write()?,
        };
        self.repository.find_tree(id)
    }

    /// A tree with something else at the end of a path, or with nothing there. Folders without files are in no tree.
    pub(crate) fn put(
        &self,
        tree: Option<TreeEntry>,
        path: &[&str],
        what: Option<TreeEntry>,
    ) -> Result<Option<TreeEntry>, git2::Error> {
        let Some((name, rest)) = path.split_first() else {
            return Ok(what);
        };
        let folder = match tree {
            Some((id, _)) => Some(self.repository.find_tree(id)?),
            None => None,
        };
        let was = folder.as_ref().and_then(|folder| standing(folder, name));
        let is_file = was.is_some_and(|(_, mode)| mode != FOLDER);
        if is_file && !rest.is_empty() && what.is_none() {
            return Ok(tree);
        }
        let now = self.put(was.filter(|_| !is_file), rest, what)?;
        if now == was {
            return Ok(tree);
        }
        let mut builder = self.repository.treebuilder(folder.as_ref())?;
        match now {
            Some((id, mode)) => drop(builder.insert(*name, id, mode)?),
            None => builder.remove(*name)?,
        }
        if builder.is_empty() {
            return Ok(None);
        }
        Ok(Some((builder.write()?, FOLDER)))
    }
}

const FOLDER: i32 = 0o040_000;

/// The names on the way to what a debt concerns.
pub(crate) fn parts(debt: &Debt) -> Vec<&str> {
    debt.below.split('/').filter(|part| !part.is_empty()).collect()
}

/// What stands in a tree at the end of a path.
pub(crate) fn standing_at(tree: &Tree<'_>, debt: &Debt) -> Option<TreeEntry> {
    if debt.below.is_empty() {
        return (!tree.is_empty()).then_some((tree.id(), FOLDER));
    }
    let entry = tree.get_path(Path::new(&*debt.below)).ok()?;
    Some((entry.id(), entry.filemode()))
}

fn standing(folder: &Tree<'_>, name: &str) -> Option<TreeEntry> {
    let entry = folder.get_name(name)?;
    let mode = match entry.kind() {
        Some(ObjectType::Tree) => FOLDER,
        _ => entry.filemode(),
    };
    Some((entry.id(), mode))
}

/// Whether a change changed anything that some debts concern.
fn touches(commit: &Commit<'_>, debts: &[Debt]) -> Result<bool, git2::Error> {
    let is = commit.tree()?;
    let was = match commit.parents().next() {
        Some(parent) => Some(parent.tree()?),
        None => None,
    };
    let before = |debt| was.as_ref().and_then(|was| standing_at(was, debt));
    Ok(debts.iter().any(|debt| standing_at(&is, debt) != before(debt)))
}
