//! The repository itself: made, told from another's, entered one at a time, and healed after a crash.
//!
//! Owns: how `.git` is set up, `.locks/history`, and the note of what is under way. Never: what is recorded.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use git2::{Commit, Config, ErrorClass, ErrorCode, Oid, Repository, RepositoryInitOptions, RepositoryState};
use model::Zone;
use ports::HistoryError;

use crate::rewrite::Rewritten;

/// The branch that a new history is on.
const BRANCH: &str = "main";

/// The key in a repository's configuration that says it is ours: the version of its set-up.
const KEY: &str = "quipu.history";
const VERSION: i64 = 1;

/// What is no memory by its name: the vault's locks and torn tails, temporary files, settings of editors.
const EXCLUDED: &str = ".*\n\\#*\n~*\n";

/// Every byte is recorded as it is, whatever a person's git does with the ends of lines.
const ATTRIBUTES: &str = "* -text -ident -filter\n";

/// The vault's folder for locks, and the history's own lock there.
pub(crate) const LOCKS: &str = ".locks";
pub(crate) const LOCK: &str = "history";

/// Where git keeps a repository.
pub(crate) const DOT_GIT: &str = ".git";

/// The file in the repository that says what is under way.
pub(crate) const NOTE: &str = "quipu.note";

/// The folder of a vault.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    root: PathBuf,
    zone: Zone,
}

/// The right to work on the history; ends when dropped.
pub(crate) struct HistoryTurn {
    pub(crate) root: PathBuf,
    /// The repository's own folder.
    pub(crate) dot_git: PathBuf,
    pub(crate) zone: Zone,
    pub(crate) repository: Repository,
    /// The ids of changes that were written anew.
    pub(crate) known: Rewritten,
    /// The system takes the lock back when this is closed.
    _lock: File,
}

/// Work of several steps, noted before the first of them that a crash may not interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// Nothing to finish; but git's own locks may have been left.
    Commit,
    /// Files become those of this commit, then it is the newest.
    Undo(Oid),
    /// This commit and those before it become all there is.
    Purge(Oid),
    /// A new pack takes the place of those with these names.
    Pack(&'a [String]),
}

impl Folder {
    /// Only here a link is followed, to where the owner of the machine put the vault.
    pub(crate) fn open(root: &Path, zone: Zone) -> Result<Self, HistoryError> {
        let root = root.canonicalize().map_err(io_error(root))?;
        Ok(Self { root, zone })
    }

    /// Waits, blocking, until nobody else works on the history; makes it where there is none.
    pub(crate) fn turn(&self) -> Result<HistoryTurn, HistoryError> {
        let locks = self.root.join(LOCKS);
        create_private(&locks).map_err(io_error(&locks))?;
        let file = hold(&self.root).map_err(io_error(&locks.join(LOCK)))?;
        let git = self.root.join(DOT_GIT);
        if self.dot_git()?.is_none() {
            make(&git)?;
        }
        // Copies often leave out empty folders, and git needs these.
        for folder in ["objects/pack", "objects/info", "refs/heads"] {
            let folder = git.join(folder);
            create_private(&folder).map_err(io_error(&folder))?;
        }
        let repository = open(&git, &self.root).map_err(git_error(&git))?;
        let turn = HistoryTurn {
            root: self.root.clone(),
            known: Rewritten::read(&git),
            dot_git: git,
            zone: self.zone.clone(),
            repository,
            _lock: file,
        };
        turn.heal()?;
        Ok(turn)
    }

    /// Where a history of ours is, none before the first.
    pub(crate) fn dot_git(&self) -> Result<Option<PathBuf>, HistoryError> {
        let git = self.root.join(DOT_GIT);
        match git.symlink_metadata() {
            Ok(there) if there.is_dir() && is_ours(&git) => Ok(Some(git)),
            Ok(_) => Err(not_ours(&git)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io_error(&git)(error)),
        }
    }
}

/// Waits, blocking, until nobody works on the history of the vault in a folder, and keeps everybody from it until the
/// file is closed. On a read-only disk only those who read are there, and none waits for another.
pub fn hold(vault: &Path) -> io::Result<File> {
    let lock = vault.join(LOCKS).join(LOCK);
    let mut options = OpenOptions::new();
    let file = match options.write(true).create(true).truncate(false).open(&lock) {
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
            let file = File::open(lock)?;
            file.lock_shared()?;
            return Ok(file);
        }
        file => file?,
    };
    file.lock()?;
    Ok(file)
}

/// Opens the repository as a bare one and then sets its work tree, so that no setting of git moves the work tree elsewhere, and git
/// does not check who owns it, as it would in a container. Quipu never runs a program that a configuration of git names.
pub(crate) fn open(git: &Path, root: &Path) -> Result<Repository, git2::Error> {
    let repository = Repository::open_bare(git)?;
    repository.set_workdir(root, false)?;
    Ok(repository)
}

/// Comes to be whole or not at all; the lock is held.
fn make(git: &Path) -> Result<(), HistoryError> {
    let new = git.with_extension("new");
    if new.exists() {
        fs::remove_dir_all(&new).map_err(io_error(&new))?;
    }
    create_private(&new).map_err(io_error(&new))?;
    let mut options = RepositoryInitOptions::new();
    options.bare(true).initial_head(BRANCH).external_template(false);
    let made = || -> Result<(), git2::Error> {
        let mut config = Repository::init_opts(&new, &options)?
            .config()?
            .open_level(git2::ConfigLevel::Local)?;
        for (key, value) in [
            ("core.bare", false),
            ("core.filemode", false),
            ("core.autocrlf", false),
            // A reflog would keep what a purge takes away, and its times are the machine's.
            ("core.logAllRefUpdates", false),
        ] {
            config.set_bool(key, value)?;
        }
        config.set_i64(KEY, VERSION)
    };
    made().map_err(git_error(&new))?;
    let info = new.join("info");
    create_private(&info)
        .and_then(|()| fs::write(info.join("exclude"), EXCLUDED))
        .and_then(|()| fs::write(info.join("attributes"), ATTRIBUTES))
        .and_then(|()| fs::rename(&new, git))
        .map_err(io_error(git))
}

fn not_ours(git: &Path) -> HistoryError {
    let path = git.display().to_string();
    HistoryError::NotOurs { path }
}

fn is_ours(git: &Path) -> bool {
    let config = Config::open(&git.join("config"));
    config.and_then(|config| config.get_i64(KEY)) == Ok(VERSION)
}

/// Memory is its owner's business: what is created here, nobody else may enter.
pub(crate) fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

impl HistoryTurn {
    /// The newest commit of what is checked out, a branch or not; none before the first.
    pub(crate) fn head(&self) -> Result<Option<Commit<'_>>, HistoryError> {
        self.git(|| match self.repository.head() {
            Ok(head) => head.peel_to_commit().map(Some),
            Err(error) if error.code() == ErrorCode::UnbornBranch => Ok(None),
            Err(error) => Err(error),
        })
    }

    /// Makes a commit the newest of what is checked out.
    pub(crate) fn set_head(&self, commit: Oid) -> Result<(), HistoryError> {
        self.git(|| {
            let head = self.repository.find_reference("HEAD")?;
            let name = head.symbolic_target()?.unwrap_or("HEAD");
            self.repository.reference(name, commit, true, "").map(drop)
        })
    }

    /// Refuses to work while a person's git does.
    pub(crate) fn check_idle(&self) -> Result<(), HistoryError> {
        let busy = |what: &str| {
            Err(HistoryError::Busy {
                what: what.to_owned(),
            })
        };
        if self.dot_git.join("index.lock").exists() {
            return busy("it holds `.git/index.lock`; remove that file if no git is running");
        }
        match self.repository.state() {
            RepositoryState::Clean => Ok(()),
            state => busy(&format!("finish or abort what `git status` tells ({state:?})")),
        }
    }

    /// Notes what is under way, until [`Self::done`].
    pub(crate) fn note(&self, step: Step<'_>) -> Result<(), HistoryError> {
        let note = self.dot_git.join(NOTE);
        let text = match step {
            Step::Commit => "commit".to_owned(),
            Step::Undo(commit) => format!("undo {commit}"),
            Step::Purge(commit) => format!("purge {commit}"),
            Step::Pack(replaced) => format!("pack {}", replaced.join(" ")),
        };
        let beside = note.with_extension("tmp");
        // After a power cut there is nothing of a commit to finish, and a person is told of a lock that is left.
        let sync = |file: File| {
            if step == Step::Commit {
                Ok(())
            } else {
                file.sync_all()
            }
        };
        fs::write(&beside, text)
            .and_then(|()| sync(File::open(&beside)?))
            .and_then(|()| fs::rename(&beside, &note))
            .map_err(io_error(&note))
    }

    /// Does work that needs no finishing, but may leave locks of git when a crash ends it.
    pub(crate) fn noted<T>(&self, work: impl FnOnce() -> Result<T, HistoryError>) -> Result<T, HistoryError> {
        self.check_idle()?;
        self.note(Step::Commit)?;
        let result = work();
        self.done()?;
        result
    }

    /// Nothing is under way any more.
    pub(crate) fn done(&self) -> Result<(), HistoryError> {
        let note = self.dot_git.join(NOTE);
        fs::remove_file(&note).map_err(io_error(&note))
    }

    /// Finishes what another turn began and did not end.
    fn heal(&self) -> Result<(), HistoryError> {
        let note = self.dot_git.join(NOTE);
        let text = match fs::read_to_string(&note) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(io_error(&note)(error)),
        };
        let head = self.repository.find_reference("HEAD");
        let branch = head
            .ok()
            .and_then(|head| Some(head.symbolic_target().ok()??.to_owned()));
        for name in ["index", "HEAD"].into_iter().chain(branch.as_deref()) {
            let lock = self.dot_git.join(format!("{name}.lock"));
            if lock.exists() {
                fs::remove_file(&lock).map_err(io_error(&lock))?;
            }
        }
        // What a power cut took was not begun.
        let commit = |hex| self.repository.find_commit(Oid::from_str(hex).ok()?).ok();
        let (step, of) = text.split_once(' ').unwrap_or_default();
        match (step, commit(of).map(|commit| commit.id())) {
            ("undo", Some(commit)) => {
                let _writers = self.hold_writers()?;
                self.finish_undo(commit)?;
            }
            ("purge", Some(commit)) => self.finish_purge(commit)?,
            ("pack", _) => self.finish_pack(of)?,
            _ => {}
        }
        self.done()
    }

    /// Work with git, whose error tells the repository that it is about.
    pub(crate) fn git<T>(&self, work: impl FnOnce() -> Result<T, git2::Error>) -> Result<T, HistoryError> {
        work().map_err(git_error(&self.dot_git))
    }
}

/// An error of the disk, with the path that it is about.
pub(crate) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> HistoryError {
    let path = path.display().to_string();
    move |source| HistoryError::Io { path, source }
}

fn git_error(path: &Path) -> impl FnOnce(git2::Error) -> HistoryError {
    let path = path.display().to_string();
    move |error| match (error.code(), error.class()) {
        (ErrorCode::Locked, _) => HistoryError::Busy {
            what: error.message().to_owned(),
        },
        (_, ErrorClass::Os | ErrorClass::Filesystem) => HistoryError::Io {
            path,
            source: io::Error::other(error),
        },
        _ => HistoryError::Damaged {
            path,
            source: error.into(),
        },
    }
}
