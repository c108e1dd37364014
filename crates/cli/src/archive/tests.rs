//! A backup that changed since it was written is refused.

use tempfile::TempDir;

use super::*;

/// A backup of two files.
fn archive(folder: &Path) -> Archive {
    let mut files = Vec::new();
    for (path, text) in [("ledger.sqlite", "rows"), ("memory/a.md", "I keep bees.")] {
        let to = folder.join(path);
        private::folder(to.parent().expect("a folder")).expect("made");
        let copied = copy(&mut text.as_bytes(), &to).expect("written");
        files.push(ArchivedFile::new(path, Path::new(path), copied));
    }
    let archive = Archive::new("2026-11-24T03:00:00Z".to_owned(), Vec::new(), files);
    archive.write(folder).expect("written");
    archive
}

fn refusal(folder: &Path) -> String {
    let read = Archive::read(folder).and_then(|archive| archive.verify(folder));
    format!("{:#}", read.expect_err("it is refused").error)
}

#[test]
fn a_backup_is_restored_unchanged() {
    let (from, root) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let bytes = archive(from.path()).bytes();
    let archive = Archive::read(from.path()).expect("it is read");
    archive.verify(from.path()).expect("it is whole");
    archive.unpack(from.path(), root.path()).expect("it is copied");
    let text = fs::read_to_string(root.path().join("memory/a.md")).expect("it is there");
    assert_eq!((text.as_str(), bytes), ("I keep bees.", 16));
}

#[test]
fn a_damaged_backup_is_refused() {
    type Damage = (fn(&Path), &'static str);
    let damages: [Damage; 7] = [
        (
            |folder| fs::write(folder.join("memory/a.md"), "I keep cats.").expect("written"),
            "`memory/a.md` is not as it was written",
        ),
        (
            |folder| fs::remove_file(folder.join("ledger.sqlite")).expect("removed"),
            "cannot read `ledger.sqlite`",
        ),
        (
            |folder| fs::remove_file(folder.join(LIST)).expect("removed"),
            "is not a whole backup",
        ),
        (
            |folder| fs::write(folder.join(LIST), "{").expect("written"),
            "the backup is damaged",
        ),
        (
            |folder| replace(folder, "memory/a.md", "../a.md"),
            "leads out of its folder",
        ),
        (
            |folder| replace(folder, "\"sha256\"", "\"name\": \"2e2e2f61\", \"sha256\""),
            "leads out of its folder",
        ),
        (
            |folder| replace(folder, "\"format\": 1", "\"format\": 2"),
            "format 2, this program knows 1",
        ),
    ];
    for (damage, words) in damages {
        let folder = TempDir::new().expect("a folder");
        archive(folder.path());
        damage(folder.path());
        let refusal = refusal(folder.path());
        assert!(refusal.contains(words), "{refusal}");
    }
}

fn replace(folder: &Path, from: &str, to: &str) {
    let list = fs::read_to_string(folder.join(LIST)).expect("read");
    assert!(list.contains(from), "{list}");
    fs::write(folder.join(LIST), list.replace(from, to)).expect("written");
}
