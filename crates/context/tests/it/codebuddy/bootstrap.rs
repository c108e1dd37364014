//! Conformance with code-buddy's `BootstrapLoader` (BL-1 to BL-9), and our additions, on a tree in memory and a real
//! one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use context::bootstrap::{Danger, FileHead, Files, Loaded, Missing, Policy, Remark, load};
use proptest::prelude::*;

/// Paths with their texts and real paths.
#[derive(Default)]
struct Tree {
    files: BTreeMap<PathBuf, Result<(Vec<u8>, PathBuf), Missing>>,
    asked: RefCell<Vec<PathBuf>>,
}

impl Tree {
    fn of(files: &[(&str, &str)]) -> Self {
        let file =
            |&(path, text): &(&str, &str)| (PathBuf::from(path), Ok((text.into(), PathBuf::from(path))));
        Self {
            files: files.iter().map(file).collect(),
            ..Self::default()
        }
    }
}

impl Files for Tree {
    fn read(&self, path: &Path, bytes_max: usize) -> Result<FileHead, Missing> {
        self.asked.borrow_mut().push(path.to_owned());
        let (bytes, real_path) = self.files.get(path).cloned().unwrap_or(Err(Missing::Absent))?;
        let bytes_total = bytes.len() as u64;
        Ok(FileHead {
            bytes: bytes[..bytes.len().min(bytes_max)].to_vec(),
            bytes_total,
            real_path,
        })
    }
}

fn old() -> Policy {
    Policy {
        danger: Danger::Drop,
        ..Policy::new(vec!["/p".into(), "/h".into()])
    }
}

fn one(name: &str, chars_max: usize) -> Policy {
    Policy {
        names: vec![name.to_owned()],
        chars_max,
        ..old()
    }
}

#[test]
fn bl_1_2_3_9_places_and_sections() {
    let tree = Tree::default();
    assert_eq!(load(&old(), &tree), Loaded::default());
    assert_eq!(tree.asked.borrow().len(), 2 * old().names.len());
    let tree = Tree::of(&[
        ("/p/SOUL.md", " \n"),
        ("/h/SOUL.md", "global soul"),
        ("/p/USER.md", " me \n"),
        ("/h/USER.md", "not me"),
    ]);
    let loaded = load(&old(), &tree);
    assert_eq!(
        loaded.content,
        "## SOUL.md\n\nglobal soul\n\n---\n\n## USER.md\n\nme"
    );
    assert!(!loaded.truncated);
    let chars: Vec<usize> = loaded.sections.iter().map(|section| section.chars).collect();
    assert_eq!(chars, [11, 2]);
    let paths: Vec<&Path> = loaded
        .sections
        .iter()
        .map(|section| section.path.as_path())
        .collect();
    assert_eq!(paths, [Path::new("/h/SOUL.md"), Path::new("/p/USER.md")]);
    assert_eq!(
        load(
            &Policy {
                names: Vec::new(),
                ..old()
            },
            &tree
        ),
        Loaded::default()
    );
    let single = load(&old(), &Tree::of(&[("/p/IDENTITY.md", "I am the identity")]));
    assert_eq!(single.content, "## IDENTITY.md\n\nI am the identity");
    let custom = Policy {
        names: vec!["NOTES.md".to_owned()],
        danger: Danger::Drop,
        ..Policy::new(vec!["/p/.mine".into(), "/h/.mine".into()])
    };
    let tree = Tree::of(&[("/h/.mine/NOTES.md", "mine"), ("/p/SOUL.md", "not asked for")]);
    assert_eq!(load(&custom, &tree).content, "## NOTES.md\n\nmine");
}

#[test]
fn bl_4_5_6_the_budget() {
    let text = "a".repeat(40);
    let tree = Tree::of(&[("/p/SOUL.md", &text), ("/p/USER.md", "later")]);
    let within = |chars_max| load(&Policy { chars_max, ..old() }, &tree);
    let (head, mark) = ("## SOUL.md\n\n", "\n\n... (truncated)");
    let cut = within(head.len() + 7 + mark.len());
    assert_eq!(cut.content, format!("{head}aaaaaaa{mark}"));
    assert_eq!(
        (cut.sections[0].chars, cut.sections[0].truncated, cut.truncated),
        (7, true, true)
    );
    assert_eq!(cut.notes[0].what, Remark::LeftOut);
    let none = within(0);
    assert_eq!(
        (none.truncated, none.sections.len(), none.notes.len()),
        (true, 0, 2)
    );
    let full = within(head.len() + 40);
    assert_eq!((full.sections[0].chars, full.sections[0].truncated), (40, false));
    assert!(full.truncated, "a file is left out");
    let wide = Tree::of(&[("/p/SOUL.md", "😀😀")]);
    let whole = load(&one("SOUL.md", head.len() + 2), &wide);
    assert_eq!(
        (whole.content.as_str(), whole.truncated),
        ("## SOUL.md\n\n😀😀", false)
    );
}

#[test]
fn bl_7_8_errors_and_dangers() {
    let mut tree = Tree::of(&[("/h/SOUL.md", "soul")]);
    tree.files.insert("/p/SOUL.md".into(), Err(Missing::Denied));
    assert_eq!(load(&old(), &tree).content, "## SOUL.md\n\nsoul");
    for text in [
        "eval (x)",
        "eval(x)",
        "new  Function (",
        "require('child_process')",
        "require(\"child_process\")",
        "exec(",
        "execSync(",
        "spawn(",
        "spawnSync(",
        "<ScRiPt src=x>",
        "<script>",
    ] {
        let tree = Tree::of(&[("/p/SOUL.md", text), ("/h/SOUL.md", "g"), ("/p/USER.md", "me")]);
        let loaded = load(&old(), &tree);
        assert_eq!(loaded.content, "## USER.md\n\nme", "{text}");
        assert!(
            matches!(&loaded.notes[0].what, Remark::Dangerous(_))
                && loaded.notes[0].path.ends_with("SOUL.md")
        );
        let ours = load(&Policy::new(vec!["/p".into(), "/h".into()]), &tree);
        assert_eq!(
            (ours.sections.len(), ours.sections[0].dangers.len()),
            (2, 1),
            "{text}"
        );
    }
    for text in [
        "the eval function",
        "evaluation (of it)",
        "execute it",
        "a spawn point",
    ] {
        assert!(
            !load(&old(), &Tree::of(&[("/p/SOUL.md", text)]))
                .content
                .is_empty(),
            "{text}"
        );
    }
}

#[test]
fn nothing_from_outside_and_nothing_twice() {
    let mut tree = Tree::of(&[("/p/AGENTS.md", "a")]);
    let real = |path: &str| Ok((b"x".to_vec(), PathBuf::from(path)));
    tree.files.insert("/p/SOUL.md".into(), real("/p/AGENTS.md"));
    tree.files.insert("/p/TOOLS.md".into(), real("/etc/passwd"));
    let names = ["AGENTS.md", "SOUL.md", "TOOLS.md", "../x", "/etc/passwd", ".."]
        .map(str::to_owned)
        .to_vec();
    let loaded = load(
        &Policy {
            names,
            ..Policy::new(vec!["/p".into(), "/h".into()])
        },
        &tree,
    );
    assert_eq!(loaded.content, "## AGENTS.md\n\na");
    let remarks: Vec<&Remark> = loaded.notes.iter().map(|note| &note.what).collect();
    let outside = Remark::Refused(Missing::Outside);
    assert_eq!(
        remarks,
        [
            &Remark::Repeated,
            &outside,
            &Remark::Name,
            &Remark::Name,
            &Remark::Name
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]
    #[test]
    fn the_budget_holds_for_the_whole_content(a in "(?s).{0,60}", b in "(?s).{0,60}", chars_max in 0..160_usize) {
        let tree = Tree::of(&[("/p/SOUL.md", &a), ("/h/USER.md", &b)]);
        let policy = Policy { chars_max, ..Policy::new(vec!["/p".into(), "/h".into()]) };
        let loaded = load(&policy, &tree);
        prop_assert!(loaded.content.chars().count() <= chars_max);
        prop_assert_eq!(&loaded, &load(&policy, &tree));
        let room = a.len() + b.len() + 60 < chars_max;
        prop_assert!(!(room && loaded.truncated));
    }
}

#[cfg(unix)]
mod real {
    use std::fs::{File, canonicalize};
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Implements the contract of [`Files`] with the standard library alone.
    struct Disk {
        roots: Vec<PathBuf>,
    }

    impl Files for Disk {
        fn read(&self, path: &Path, bytes_max: usize) -> Result<FileHead, Missing> {
            let real_path = canonicalize(path).map_err(|_| Missing::Absent)?;
            if !self.roots.iter().any(|root| real_path.starts_with(root)) {
                return Err(Missing::Outside);
            }
            // Checked before opening: opening a FIFO would wait.
            let meta = real_path.symlink_metadata().map_err(|_| Missing::Denied)?;
            if !meta.is_file() {
                return Err(Missing::Unfit);
            }
            let mut bytes = Vec::new();
            let file = File::open(&real_path).map_err(|_| Missing::Denied)?;
            file.take(bytes_max as u64)
                .read_to_end(&mut bytes)
                .map_err(|_| Missing::Denied)?;
            Ok(FileHead {
                bytes,
                bytes_total: meta.len(),
                real_path,
            })
        }
    }

    #[test]
    fn links_directories_fifos_and_huge_files() {
        let dir = tempfile::tempdir().unwrap();
        let base = canonicalize(dir.path()).unwrap();
        let root = base.join("p");
        std::fs::create_dir_all(root.join("USER.md")).unwrap();
        std::fs::write(base.join("outside"), "secret").unwrap();
        symlink(base.join("outside"), root.join("SOUL.md")).unwrap();
        std::fs::write(root.join("AGENTS.md"), "a").unwrap();
        symlink(root.join("AGENTS.md"), root.join("TOOLS.md")).unwrap();
        let huge = File::create(root.join("IDENTITY.md")).unwrap();
        huge.set_len(1 << 33).unwrap();
        assert!(
            std::process::Command::new("mkfifo")
                .arg(root.join("BOOTSTRAP.md"))
                .status()
                .unwrap()
                .success()
        );
        let policy = Policy::new(vec![root.clone(), base.join("h")]);
        let loaded = load(
            &policy,
            &Disk {
                roots: policy.roots.clone(),
            },
        );
        assert_eq!(loaded.content, "## AGENTS.md\n\na");
        assert_eq!(loaded.notes.len(), 5);
    }
}
