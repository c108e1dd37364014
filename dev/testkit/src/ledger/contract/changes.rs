//! The state of each file that the index shows.
//!
//! Owns: the meaning of `FileChanges`. Never: files.

use model::{DocKey, Owner, OwnerKind, Scope};
use ports::{BrokenFile, FileAppend, FileChanges, FileRecord, FileStat, VaultPath};

use super::Ledger;
use crate::ledger::samples::{file, mark, name};

fn path(text: &str) -> VaultPath {
    text.into()
}

/// A put record comes back, with one mark for an entry, in order of the entries' ids.
pub async fn a_record_comes_back(ledger: &impl Ledger) {
    let first = file("users/ann/2026-03-02.md", 10, &[("ep_1", 1), ("ep_2", u64::MAX)]);
    let second = FileRecord {
        stat: FileStat {
            path: path("agents/bot/☃.md"),
            bytes: u64::from(u32::MAX) + 1,
            modified_ns: -1_000_000_001,
        },
        owner: Owner {
            kind: OwnerKind::Agent,
            id: name("bot"),
        },
        problem: Some("line 3: no id".to_owned()),
        ..file("", 0, &[])
    };
    ledger.put(first.clone()).await.expect("recorded");
    ledger.put(second.clone()).await.expect("recorded");
    assert_eq!(
        ledger.record(&first.stat.path).await.expect("reads"),
        Some(first.clone())
    );
    assert_eq!(
        ledger.record(&second.stat.path).await.expect("reads"),
        Some(second.clone())
    );
    assert_eq!(ledger.record(&path("none")).await.expect("reads"), None);
    for record in [&first, &second] {
        let stat = ledger.stat(&record.stat.path).await.expect("reads");
        assert_eq!(stat.as_ref(), Some(&record.stat));
    }
    assert_eq!(ledger.stat(&path("none")).await.expect("reads"), None);
    let stats = FileChanges::stats(ledger).await.expect("reads");
    assert_eq!(
        stats,
        [second.stat.clone(), first.stat.clone()],
        "in order of path"
    );

    let changed = file(
        "users/ann/2026-03-02.md",
        11,
        &[("ep_3", 3), ("ep_2", 4), ("ep_3", 5)],
    );
    ledger.put(changed.clone()).await.expect("recorded");
    let merged = FileRecord {
        marks: vec![mark("ep_2", 4), mark("ep_3", 5)],
        ..changed
    };
    assert_eq!(
        ledger.record(&first.stat.path).await.expect("reads"),
        Some(merged)
    );
    ledger
        .drop_paths(&[first.stat.path.clone(), path("none")])
        .await
        .expect("dropped");
    assert_eq!(ledger.record(&first.stat.path).await.expect("reads"), None);
    assert_eq!(FileChanges::stats(ledger).await.expect("reads"), [second.stat]);
}

/// An append keeps the earlier marks and the problem of the file.
pub async fn an_append_extends_a_record(ledger: &impl Ledger) {
    let before = FileRecord {
        problem: Some("line 9".to_owned()),
        ..file("f1", 10, &[("ep_1", 1), ("ep_3", 3)])
    };
    ledger.put(before.clone()).await.expect("recorded");
    let appended = vec![
        append(Some(&before), file("f1", 20, &[("ep_2", 2), ("ep_3", 33)])),
        append(None, file("f2", 5, &[("ep_1", 7)])),
        append(Some(&file("f1", 20, &[])), file("f1", 30, &[("ep_4", 4)])),
    ];
    ledger.extend(appended).await.expect("recorded");
    let expected = FileRecord {
        problem: Some("line 9".to_owned()),
        ..file("f1", 30, &[("ep_1", 1), ("ep_2", 2), ("ep_3", 33), ("ep_4", 4)])
    };
    assert_eq!(ledger.record(&path("f1")).await.expect("reads"), Some(expected));
    let new = file("f2", 5, &[("ep_1", 7)]);
    assert_eq!(ledger.record(&path("f2")).await.expect("reads"), Some(new));
}

/// An append to another state than the recorded one is not recorded: the record would hide the changes in
/// between.
pub async fn an_append_after_an_unknown_one_changes_nothing(ledger: &impl Ledger) {
    let known = file("f1", 10, &[("ep_1", 1)]);
    ledger.put(known.clone()).await.expect("recorded");
    let unseen = file("f1", 20, &[]);
    let mut touched = known.clone();
    touched.stat.modified_ns += 1;
    for before in [Some(&unseen), Some(&touched), None] {
        let after = file("f1", 30, &[("ep_3", 3)]);
        ledger
            .extend(vec![append(before, after)])
            .await
            .expect("looked at");
        let stands = ledger.record(&path("f1")).await.expect("reads");
        assert_eq!(stands.as_ref(), Some(&known), "{before:?}");
    }
    let vanished = append(Some(&unseen), file("f2", 30, &[("ep_3", 3)]));
    ledger.extend(vec![vanished]).await.expect("looked at");
    assert_eq!(ledger.record(&path("f2")).await.expect("reads"), None);
}

fn append(before: Option<&FileRecord>, after: FileRecord) -> FileAppend {
    FileAppend {
        before: before.map(|record| record.stat.clone()),
        after,
    }
}

/// Exactly the files that have a problem.
pub async fn broken_files_are_listed(ledger: &impl Ledger) {
    let broken = |path: &str| FileRecord {
        problem: Some(format!("`{path}` is broken")),
        ..file(path, 1, &[])
    };
    for record in [broken("f3"), file("f2", 1, &[]), broken("f1")] {
        ledger.put(record).await.expect("recorded");
    }
    let named = |path: &str| BrokenFile {
        path: path.into(),
        problem: format!("`{path}` is broken"),
    };
    assert_eq!(ledger.broken().await.expect("reads"), [named("f1"), named("f3")]);
    ledger.put(file("f3", 2, &[])).await.expect("recorded");
    assert_eq!(ledger.broken().await.expect("reads"), [named("f1")]);
}

/// The facts of one owner in one app, in every project; and the users with files in a tenant.
pub async fn facts_and_users_are_listed(ledger: &impl Ledger) {
    let ann = Owner::user(name("ann"));
    let at = |project: &str, owner: &Owner, path: &str, entry: &str| FileRecord {
        scope: Scope::new(name("a"), name(project)),
        owner: owner.clone(),
        ..file(path, 1, &[(entry, 1)])
    };
    let other_app = FileRecord {
        scope: Scope::new(name("b"), name("main")),
        ..at("main", &ann, "b/main/users/ann/facts/1.md", "af_5")
    };
    let records = [
        at("main", &ann, "a/main/users/ann/facts/1.md", "af_1"),
        at("main", &ann, "a/main/users/ann/episodes/facts.md", "ep_1"),
        at("boat", &ann, "a/boat/users/ann/facts/1.md", "af_2"),
        at(
            "main",
            &Owner::user(name("bob")),
            "a/main/users/bob/facts/1.md",
            "af_3",
        ),
        at(
            "main",
            &Owner::agent(name("ann")),
            "a/main/agents/ann/facts/1.md",
            "af_4",
        ),
        other_app,
    ];
    for record in records {
        ledger.put(record).await.expect("recorded");
    }
    let mut keys = ledger.facts(&name("a"), &ann).await.expect("reads");
    keys.sort();
    let of = |project: &str, id: &str| DocKey {
        scope: Scope::new(name("a"), name(project)),
        owner: ann.clone(),
        id: id.into(),
    };
    assert_eq!(
        keys,
        [
            of("boat", "af_2"),
            of("boat", "af_2-turn-0"),
            of("main", "af_1"),
            of("main", "af_1-turn-0")
        ]
    );
    let users = async |project| {
        let scope = Scope::new(name("a"), name(project));
        ledger.users(&scope).await.expect("reads")
    };
    assert_eq!(users("main").await, [ann.clone(), Owner::user(name("bob"))]);
    assert_eq!(users("boat").await, [ann]);
    assert_eq!(users("none").await, []);
}

/// Files with a shared mark are listed in the order in which they were first recorded, also after they are
/// recorded again.
pub async fn files_that_share_are_listed(ledger: &impl Ledger) {
    let shared = |text: &str| {
        let mut file = file(text, 1, &[("ep_1", 1)]);
        file.marks[0].is_shared = true;
        file
    };
    let (first, second) = (shared("z.md"), shared("a.md"));
    let other = FileRecord {
        owner: Owner::user(name("bob")),
        ..shared("b.md")
    };
    for record in [
        &first,
        &second,
        &other,
        &first,
        &file("own.md", 1, &[("ep_1", 1)]),
    ] {
        ledger.put(record.clone()).await.expect("recorded");
    }
    let of = Some((&first.scope, &first.owner));
    assert_eq!(
        ledger.sharing(of).await.expect("reads"),
        [path("z.md"), path("a.md")]
    );
    let all = [path("z.md"), path("a.md"), path("b.md")];
    assert_eq!(ledger.sharing(None).await.expect("reads"), all);
    assert_eq!(
        ledger.record(&path("z.md")).await.expect("reads"),
        Some(first.clone())
    );
    ledger
        .put(file("z.md", 2, &[("ep_1", 1)]))
        .await
        .expect("recorded");
    assert_eq!(ledger.sharing(of).await.expect("reads"), [path("a.md")]);
}
