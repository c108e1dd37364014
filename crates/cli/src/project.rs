//! The project of a folder.
//!
//! Owns: finding the repository of a folder, and its name as a project. Never: the memory of a project.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use model::{InvalidId, ProjectId, Scope};

/// Digits of the fingerprint of a repository's path, which keeps folders of the same name apart.
const DIGITS: usize = 8;
/// Maximum characters of a project id.
const CHARS_MAX: usize = 128;

/// The project of a folder; outside of a repository, the default project.
pub(crate) fn of(folder: &Path) -> ProjectId {
    project_of(folder).unwrap_or_else(|| Scope::default().project)
}

/// A project from the command line; `.` is the project of the current folder.
pub(crate) fn named(text: &str) -> Result<ProjectId, InvalidId> {
    match env::current_dir() {
        Ok(folder) if text == "." => Ok(of(&folder)),
        _ => ProjectId::parse(text),
    }
}

/// The project of a folder's repository, named by the address of its remote, which is the same in every clone and worktree;
/// without a remote, by its root folder. `None` outside of a repository, and in a repository of the whole home folder.
fn project_of(folder: &Path) -> Option<ProjectId> {
    if folder.as_os_str().is_empty() {
        return None;
    }
    let common = git(folder, &["rev-parse", "--git-common-dir"])?;
    let common = folder.join(common).canonicalize().ok()?;
    let root = common.parent()?;
    if env::home_dir().is_some_and(|home| home == root) {
        return None;
    }
    let remote = git(folder, &["remote", "get-url", "origin"]);
    let address = remote.and_then(|url| place_of(&url));
    let name = address.unwrap_or_else(|| {
        let fingerprint = prefix::Digest::of(root.as_os_str().as_encoded_bytes()).to_string();
        let name = root.file_name().unwrap_or_default().to_string_lossy();
        let name: String = name.chars().take(CHARS_MAX - DIGITS - 1).collect();
        format!("{name}-{}", &fingerprint[..DIGITS])
    });
    as_name(&name)
}

/// The output of `git` in a folder; `None` if it fails. The variables are removed because git sets them for its hooks, where they
/// name another repository.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    for named in ["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX"] {
        git.env_remove(named);
    }
    git.current_dir(folder).args(arguments);
    let output = git.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output
        .inspect_err(|error| tracing::warn!(%error, "cannot run `git`: a folder is in no project"))
        .ok()
        .filter(|output| output.status.success())?;
    let printed = String::from_utf8(output.stdout).ok()?;
    Some(printed.strip_suffix('\n').unwrap_or(&printed).to_owned())
}

/// Host and path of a remote's address, the same for every protocol; `None` for a path on this machine.
fn place_of(url: &str) -> Option<String> {
    let (host, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?,
        // As in `git@host:path`.
        None => url.split_once(':')?,
    };
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.split(':').next().unwrap_or(host).to_ascii_lowercase();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"))
}

/// A text as a project id: `/` becomes `+`, other invalid characters become `_`, and a long text keeps its end.
fn as_name(text: &str) -> Option<ProjectId> {
    let fit = |c: char| match c {
        '/' => '+',
        c if c.is_ascii_alphanumeric() || "_.@+-".contains(c) => c,
        _ => '_',
    };
    let name: String = text.chars().map(fit).collect();
    let excess = name.len().saturating_sub(CHARS_MAX);
    ProjectId::parse(&name[excess..]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(project: Option<ProjectId>) -> Option<String> {
        project.map(|project| project.as_str().to_owned())
    }

    #[test]
    fn every_url_of_a_remote_gives_the_same_address() {
        for url in [
            "git@Example.org:ana/boat.git",
            "https://example.org/ana/boat",
            "https://token:x@example.org/ana/boat.git/",
            "ssh://git@example.org:2222/ana/boat.git",
        ] {
            assert_eq!(place_of(url).as_deref(), Some("example.org/ana/boat"), "{url}");
        }
        for url in ["file:///srv/boat.git", "../boat", "/srv/boat.git", ""] {
            assert_eq!(place_of(url), None, "{url}");
        }
    }

    #[test]
    fn any_folder_name_becomes_a_valid_project() {
        assert_eq!(
            text(as_name("git.ort/ana/bäume")).as_deref(),
            Some("git.ort+ana+b_ume")
        );
        let long = text(as_name(&format!("h/{}", "x".repeat(300)))).expect("a name");
        assert_eq!(long.len(), CHARS_MAX);
    }

    fn made(folder: &Path, arguments: &[&str]) {
        let names = [
            "-c",
            "user.name=Ana",
            "-c",
            "user.email=ana@example.org",
            "-c",
            "protocol.file.allow=always",
        ];
        assert!(
            git(folder, &[&names, arguments].concat()).is_some(),
            "git {arguments:?}"
        );
    }

    #[test]
    fn a_folder_has_the_project_of_its_repository() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(project_of(folder.path()), None);
        let root = folder.path().join("boat");
        let below = root.join("src/deep");
        std::fs::create_dir_all(&below).expect("makes");
        made(&root, &["init"]);
        let by_root = text(project_of(&below)).expect("a project");
        assert!(
            by_root.starts_with("boat-") && by_root.len() == "boat-".len() + DIGITS,
            "{by_root}"
        );
        made(
            &root,
            &["remote", "add", "origin", "git@example.org:ana/boat.git"],
        );
        assert_eq!(text(project_of(&below)).as_deref(), Some("example.org+ana+boat"));
        made(&root, &["commit", "--allow-empty", "-m", "first"]);
        made(&root, &["worktree", "add", "../sail"]);
        let worktree = folder.path().join("sail");
        assert_eq!(project_of(&worktree), project_of(&root));
        made(&root, &["config", "remote.origin.url", "short:ana/boat"]);
        made(&root, &["config", "url.https://example.org/.insteadOf", "short:"]);
        assert_eq!(text(project_of(&below)).as_deref(), Some("example.org+ana+boat"));
        made(
            &root,
            &[
                "submodule",
                "add",
                &folder.path().join("sail").to_string_lossy(),
                "part",
            ],
        );
        let part = text(project_of(&root.join("part"))).expect("a project");
        assert!(part.starts_with("modules-"), "{part}");
    }
}
