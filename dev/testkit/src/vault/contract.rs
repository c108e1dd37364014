//! The contract of the vault port, for the fake and the real vault.
//!
//! Owns: the port's promises as assertions. Never: speed, links, or the behaviour of only one implementation.

mod library;
pub mod pages;

use std::sync::Arc;

use model::{Entry, EntryId, Name, Scope};
use ports::{Edit, ParsedFile, Vault, VaultChange, VaultError, VaultPath, VaultWriter};

use super::samples::{episode, fact, user};
pub use library::{keeps_library_files, puts_entries_and_removes_the_last};

/// A vault that can be read and written.
pub trait WritableVault: Vault + VaultWriter {}

impl<T: Vault + VaultWriter> WritableVault for T {}

/// An empty vault in the zone [`super::samples::zone`] for one clause, and edits of its files by hand.
pub trait Fixture {
    /// The vault.
    fn vault(&self) -> Arc<dyn WritableVault>;
    /// Writes a file and its folders, as an editor does.
    fn write(&self, path: &str, bytes: &[u8]);
    /// Deletes a file.
    fn delete(&self, path: &str);
    /// A file's bytes; none if there is no file.
    fn bytes(&self, path: &str) -> Option<Vec<u8>>;
}

const ANN: &str = "default/default/users/ann/facts/2023-05-08.md";

/// Runs every clause, each on an empty vault that `open` makes.
pub async fn holds<F: Fixture>(open: impl AsyncFn() -> F) {
    files_entries_by_scope_owner_kind_and_date(&open().await).await;
    returns_appended_entries(&open().await).await;
    writes_an_id_once(&open().await).await;
    returns_the_stat_before_an_append(&open().await).await;
    keeps_owners_apart_that_differ_in_case(&open().await).await;
    appends_to_a_persons_file(&open().await).await;
    cuts_a_torn_tail(&open().await).await;
    reads_around_broken_parts(&open().await).await;
    leaves_files_of_a_later_version_alone(&open().await).await;
    edits_one_entry_and_nothing_else(&open().await).await;
    puts_entries_and_removes_the_last(&open().await).await;
    refuses_edits_of_missing_entries(&open().await).await;
    refuses_paths_that_are_no_places(&open().await).await;
    lists_memory_files_in_order(&open().await).await;
    removes_an_owner_or_a_scope(&open().await).await;
    takes_concurrent_appends(&open().await).await;
    reports_changes(&open().await).await;
}

fn path(text: &str) -> VaultPath {
    text.into()
}

async fn read(vault: &Arc<dyn WritableVault>, at: &str) -> ParsedFile {
    let file = vault.read(&path(at)).await.expect("reads");
    file.unwrap_or_else(|| panic!("`{at}` is there"))
}

fn entries(file: &ParsedFile) -> Vec<Entry> {
    file.entries.iter().map(|read| read.entry.clone()).collect()
}

fn ids(file: &ParsedFile) -> Vec<&str> {
    file.entries.iter().map(|read| read.entry.id.as_str()).collect()
}

/// There is one file for each scope, owner, kind and date; the date is the zone's.
pub async fn files_entries_by_scope_owner_kind_and_date(fixture: &impl Fixture) {
    let vault = fixture.vault();
    let mut late = fact("ann", "af_2", "2023-05-08", "late");
    late.time = late.time.plus_millis(11 * 3_600_000);
    let all = [
        fact("ann", "af_1", "2023-05-08", "one"),
        episode("ann", "ep_1", "2023-05-08", &["hi"]),
        fact("bob", "af_1", "2023-05-08", "his"),
        fact("ann", "af_3", "2023-05-09", "next"),
        late,
    ];
    let written = vault.append(&all, true).await.expect("appends");
    let paths: Vec<&str> = written.iter().map(|written| written.stat.path.as_ref()).collect();
    let expected = [
        ANN,
        "default/default/users/ann/episodes/2023-05-08.md",
        "default/default/users/bob/facts/2023-05-08.md",
        "default/default/users/ann/facts/2023-05-09.md",
    ];
    assert_eq!(paths, expected);
    assert!(all.iter().all(|entry| paths.contains(&&*vault.path_of(entry))));
    assert_eq!(ids(&read(&vault, ANN).await), ["af_1", "af_2"]);
}

/// An entry comes back with every field, and with the digest that the append returned.
pub async fn returns_appended_entries(fixture: &impl Fixture) {
    let vault = fixture.vault();
    let mut hard = episode(
        "ann",
        "ep_1",
        "2023-05-08",
        &["## no heading\r\n", "", "\0 {#x}\n\n"],
    );
    "> \u{2028} ".clone_into(&mut hard.summary);
    let written = vault
        .append(std::slice::from_ref(&hard), true)
        .await
        .expect("appends");
    let file = read(&vault, &written[0].stat.path).await;
    assert_eq!(entries(&file), [hard.clone()]);
    assert_eq!((file.broken, file.problems), (None, Vec::new()));
    assert_eq!(written[0].ids, [(hard.id.clone(), file.entries[0].digest)]);
    assert_eq!(file.stat, written[0].stat);
}

/// An id is written once, however often and with whatever other entries it is appended.
pub async fn writes_an_id_once(fixture: &impl Fixture) {
    let vault = fixture.vault();
    let [one, two] = ["af_1", "af_2"].map(|id| fact("ann", id, "2023-05-08", id));
    vault
        .append(std::slice::from_ref(&one), true)
        .await
        .expect("appends");
    fixture.write(
        ANN,
        &changed(&fixture.bytes(ANN).expect("is there"), "af_1.", "by hand"),
    );
    let twice = [two.clone(), one.clone(), two.clone()];
    let written = vault.append(&twice, false).await.expect("appends");
    let bytes = fixture.bytes(ANN).expect("is there");
    let file = read(&vault, ANN).await;
    assert_eq!(ids(&file), ["af_1", "af_2"]);
    assert_eq!(file.problems, []);
    assert_eq!(file.entries[0].entry.body, "by hand", "what a person wrote stays");
    // The digest of the entry in the file, not of the appended one.
    assert!(written[0].ids.contains(&(one.id.clone(), file.entries[0].digest)));
    assert!(written[0].ids.contains(&(two.id.clone(), file.entries[1].digest)));
    let again = vault.append(&[one], false).await.expect("appends");
    assert_eq!(again[0].before.as_ref(), Some(&again[0].stat));
    assert_eq!(fixture.bytes(ANN).expect("is there"), bytes);
}

fn changed(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    String::from_utf8_lossy(bytes).replace(from, to).into_bytes()
}

/// The returned stat shows the caller a hand edit in between.
pub async fn returns_the_stat_before_an_append(fixture: &impl Fixture) {
    let vault = fixture.vault();
    let [one, two, three] = ["af_1", "af_2", "af_3"].map(|id| fact("ann", id, "2023-05-08", id));
    let first = vault.append(&[one], true).await.expect("appends").remove(0);
    assert_eq!(first.before, None);
    let second = vault.append(&[two], true).await.expect("appends").remove(0);
    assert_eq!(second.before.as_ref(), Some(&first.stat));
    assert_ne!(second.stat, first.stat);
    let by_hand = changed(&fixture.bytes(ANN).expect("is there"), "af_1.", "by hand");
    fixture.write(ANN, &by_hand);
    let third = vault.append(&[three], true).await.expect("appends").remove(0);
    assert_ne!(third.before.as_ref(), Some(&second.stat));
}

/// Owners differ even if the file system ignores case.
pub async fn keeps_owners_apart_that_differ_in_case(fixture: &impl Fixture) {
    let vault = fixture.vault();
    let all = ["ann", "Ann", "ANN"].map(|owner| fact(owner, "af_1", "2023-05-08", owner));
    let written = vault.append(&all, true).await.expect("appends");
    for (written, entry) in written.iter().zip(&all) {
        assert_eq!(
            entries(&read(&vault, &written.stat.path).await),
            std::slice::from_ref(entry)
        );
    }
    let lower = |n: usize| written[n].stat.path.to_lowercase();
    assert!(lower(0) != lower(1) && lower(1) != lower(2) && lower(0) != lower(2));
    let misnamed = "default/default/users/Ann/facts/2023-05-08.md";
    fixture.write(misnamed, b"## A\n\nx\n");
    let file = read(&vault, misnamed).await;
    assert!(file.entries.is_empty());
    assert!(file.broken.is_some_and(|reason| reason.contains("Ann=1")));
}

/// Every byte of a person's text stays, its front matter too, except the number of an obsolete version.
pub async fn appends_to_a_persons_file(fixture: &impl Fixture) {
    for text in [
        "",
        "## Peanuts\n\nI am allergic",
        "---\r\nquipu: 1\r\nmood: calm # mine\r\n---\r\n\r\n## A\r\nx\r\n",
        "---\nquipu: [broken\n---\n## A\nx\n\n\n\n",
        "## A {#af_0}\nx\n<!-- end -->",
    ] {
        let vault = fixture.vault();
        fixture.write(ANN, text.as_bytes());
        let before = read(&vault, ANN).await;
        let new = fact("ann", "af_1", "2023-05-08", "new");
        for fresh in [true, false] {
            vault
                .append(std::slice::from_ref(&new), fresh && !text.is_empty())
                .await
                .expect("appends");
            let bytes = fixture.bytes(ANN).expect("is there");
            let stays = text.replace("quipu: 1", "quipu: 2");
            assert!(bytes.starts_with(stays.as_bytes()));
            let mut expected = entries(&before);
            expected.push(new.clone());
            assert_eq!(entries(&read(&vault, ANN).await), expected);
            fixture.write(ANN, text.as_bytes());
        }
    }
}

/// With or without `fresh`, and with any next append.
pub async fn cuts_a_torn_tail(fixture: &impl Fixture) {
    let vault = fixture.vault();
    let [one, two, three] = ["af_1", "af_2", "af_3"].map(|id| fact("ann", id, "2023-05-08", "Wörter"));
    vault.append(&[one], true).await.expect("appends");
    let start = fixture.bytes(ANN).expect("is there");
    vault
        .append(std::slice::from_ref(&two), true)
        .await
        .expect("appends");
    let whole = fixture.bytes(ANN).expect("is there");
    for len in start.len() + 2..whole.len() - 2 {
        fixture.write(ANN, &whole[..len]);
        let torn = read(&vault, ANN).await;
        assert_eq!(
            (ids(&torn), torn.problems.len(), torn.broken.as_deref()),
            (vec!["af_1"], 1, None)
        );
        vault
            .append(std::slice::from_ref(&two), len % 2 == 0)
            .await
            .expect("appends");
        assert_eq!(fixture.bytes(ANN).expect("is there"), whole, "torn at {len}");
        fixture.write(ANN, &whole[..len]);
        vault
            .append(std::slice::from_ref(&three), len % 2 == 0)
            .await
            .expect("appends");
        vault
            .append(std::slice::from_ref(&two), false)
            .await
            .expect("appends");
        let file = read(&vault, ANN).await;
        assert_eq!(
            (ids(&file), file.problems.len()),
            (vec!["af_1", "af_3", "af_2"], 0),
            "torn at {len}"
        );
    }
}

/// The content of a file never causes an error.
pub async fn reads_around_broken_parts(fixture: &impl Fixture) {
    let vault = fixture.vault();
    fixture.write(
        ANN,
        b"---\nquipu: [\n---\n## A\nx\n\n## B\n- time: never\n\n## C \xff\nz\n\n## D\ny\n",
    );
    let file = read(&vault, ANN).await;
    let subjects: Vec<String> = entries(&file).into_iter().map(|entry| entry.subject).collect();
    assert_eq!(subjects, ["A", "D"]);
    assert!(file.broken.is_some());
    let lines: Vec<usize> = file.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [8, 10]);
    let none = path("default/default/users/ann/facts/none.md");
    assert!(vault.read(&none).await.expect("reads").is_none());
    assert!(vault.stat(&none).await.expect("stats").is_none());
}

/// This program cannot know the rules of a later version, so it does not write.
pub async fn leaves_files_of_a_later_version_alone(fixture: &impl Fixture) {
    let vault = fixture.vault();
    let later = b"---\nquipu: 999\n---\n## A {#af_0}\nx\n<!-- end -->\n";
    fixture.write(ANN, later);
    let file = read(&vault, ANN).await;
    assert!(file.broken.is_some() && file.entries.is_empty());
    for fresh in [true, false] {
        let refused = vault
            .append(&[fact("ann", "af_1", "2023-05-08", "new")], fresh)
            .await;
        assert!(matches!(refused, Err(VaultError::Broken { .. })));
    }
    let refused = vault
        .edit(&path(ANN), &[Edit::Remove(EntryId::new("af_0"))])
        .await;
    assert!(matches!(refused, Err(VaultError::Broken { .. })));
    assert_eq!(fixture.bytes(ANN).expect("is there"), later);
}

/// Replacing and removing an entry, also one that a person wrote.
pub async fn edits_one_entry_and_nothing_else(fixture: &impl Fixture) {
    let vault = fixture.vault();
    let [one, two] = ["af_1", "af_2"].map(|id| fact("ann", id, "2023-05-08", id));
    vault
        .append(&[one.clone(), two.clone()], true)
        .await
        .expect("appends");
    let text = String::from_utf8(fixture.bytes(ANN).expect("is there")).expect("text");
    let with_key = |line: &str| match line
        .split("<!--")
        .nth(1)
        .and_then(|marks| marks.split(' ').nth(1))
    {
        Some(time) if line.starts_with("## ") => {
            format!("{line}\n- time: {}\n- mood: good\n", time.trim_end_matches("-->"))
        }
        _ => format!("{line}\n"),
    };
    let text = text.lines().map(with_key).collect::<String>() + "<loose>\n\n## By hand\nx";
    fixture.write(ANN, text.as_bytes());
    let new = Entry {
        subject: "New".to_owned(),
        body: "## new\n".to_owned(),
        ..one.clone()
    };
    let stat = vault
        .edit(&path(ANN), &[Edit::Replace(Box::new(new.clone()))])
        .await
        .expect("edits");
    let file = read(&vault, ANN).await;
    assert_eq!(Some(file.stat.clone()), stat);
    assert_eq!(entries(&file)[..2], [new, two.clone()]);
    let by_hand = file.entries[2].entry.clone();
    let after = String::from_utf8(fixture.bytes(ANN).expect("is there")).expect("text");
    assert_eq!(after.matches("- mood: good").count(), 2);
    let back = after
        .replace("## New <", "## af_1 <")
        .replace("\\## new\n\\\n", "af_1.\n");
    assert_eq!(back, text);
    let both = [Edit::Remove(by_hand.id), Edit::Remove(EntryId::new("af_1"))];
    vault.edit(&path(ANN), &both).await.expect("edits");
    assert_eq!(entries(&read(&vault, ANN).await), [two]);
}

/// Such an edit fails and changes nothing.
pub async fn refuses_edits_of_missing_entries(fixture: &impl Fixture) {
    let vault = fixture.vault();
    let one = fact("ann", "af_1", "2023-05-08", "one");
    let remove = |id: &str| Edit::Remove(EntryId::new(id));
    let refused = vault.edit(&path(ANN), &[remove("af_1")]).await;
    assert!(matches!(refused, Err(VaultError::NoEntry { .. })));
    vault.append(&[one], true).await.expect("appends");
    let bytes = fixture.bytes(ANN);
    let refused = vault.edit(&path(ANN), &[remove("af_1"), remove("af_2")]).await;
    assert!(matches!(refused, Err(VaultError::NoEntry { id, .. }) if id == "af_2"));
    assert_eq!(fixture.bytes(ANN), bytes);
}

/// A path outside the layout is refused, whatever its parts are.
pub async fn refuses_paths_that_are_no_places(fixture: &impl Fixture) {
    let vault = fixture.vault();
    for bad in [
        "",
        "/etc/passwd",
        "../default/users/ann/facts/2023-05-08.md",
        "default/default/users/../facts/2023-05-08.md",
        "default/default/users/ann/facts/../../../x.md",
        "/default/default/users/ann/facts/2023-05-08.md",
        "default/default/users/ann/facts/a\0.md",
        "default/default/users/ann/facts/a\\b.md",
        "default/default/users/ann/facts/.hidden.md",
        "default/default/users/ann/notes/2023-05-08.md",
        "README.md",
    ] {
        let read = vault.read(&path(bad)).await;
        assert!(matches!(read, Err(VaultError::Outside { .. })), "{bad}");
        let stat = vault.stat(&path(bad)).await;
        assert!(matches!(stat, Err(VaultError::Outside { .. })), "{bad}");
        let edited = vault.edit(&path(bad), &[Edit::Remove(EntryId::new("x"))]).await;
        assert!(matches!(edited, Err(VaultError::Outside { .. })), "{bad}");
    }
}

/// Files of editors, people and other programs are not listed.
pub async fn lists_memory_files_in_order(fixture: &impl Fixture) {
    let vault = fixture.vault();
    let folder = "default/default/users/ann/facts";
    for foreign in [
        ".2023-05-08.md.swp",
        "2023-05-08.md~",
        "4913",
        ".#a.md",
        "#a.md",
        "a.tmp",
        "a.md.tmp",
        ".a.md",
        "a.txt",
    ] {
        fixture.write(&format!("{folder}/{foreign}"), b"## A\nx\n");
    }
    for foreign in [
        "README.md",
        "default/default/users/ann/notes/a.md",
        "default/default/users/ann/facts/trips/MEMORY.md",
        "default/default/users/ann/episodes/log.md",
        ".git/default/users/ann/facts/a.md",
    ] {
        fixture.write(foreign, b"## A\nx\n");
    }
    let memory = [
        "a/b/agents/c/episodes/2023-05-08.md",
        "default/default/users/ann/facts/2023-05-08.md",
        "default/default/users/ann/facts/trips/lisbon.md",
        "default/default/users/bob/facts/2023-05-07.md",
    ];
    for path in memory.iter().rev() {
        fixture.write(path, b"## A\n- time: 2023-05-08\n\nx\n");
    }
    let stats = vault.scan().await.expect("scans");
    let paths: Vec<&str> = stats.iter().map(|stat| stat.path.as_ref()).collect();
    assert_eq!(paths, memory);
    for stat in stats {
        assert_eq!(read(&vault, &stat.path).await.stat, stat);
        assert_eq!(vault.stat(&stat.path).await.expect("stats"), Some(stat));
    }
}

/// Other owners' and scopes' files stay.
pub async fn removes_an_owner_or_a_scope(fixture: &impl Fixture) {
    let vault = fixture.vault();
    let other = Scope::new(Name::parse("other").expect("a name"), Scope::default().project);
    let elsewhere = |owner: &str| Entry {
        scope: other.clone(),
        ..fact(owner, "af_1", "2023-05-08", "x")
    };
    let all = [
        fact("ann", "af_1", "2023-05-08", "x"),
        episode("ann", "ep_1", "2023-05-08", &["hi"]),
        fact("anna", "af_1", "2023-05-08", "x"),
        elsewhere("ann"),
        elsewhere("bob"),
    ];
    let paths = all.each_ref().map(|entry| vault.path_of(entry));
    vault.append(&all, true).await.expect("appends");
    let mut gone = vault
        .remove(&Scope::default(), Some(&user("ann")))
        .await
        .expect("removes");
    gone.sort();
    assert_eq!(gone, [paths[1].clone(), paths[0].clone()]);
    assert_eq!(fixture.bytes(&paths[0]), None);
    let left = |stats: Vec<ports::FileStat>| stats.into_iter().map(|stat| stat.path).collect::<Vec<_>>();
    assert_eq!(
        left(vault.scan().await.expect("scans")),
        [paths[2].clone(), paths[3].clone(), paths[4].clone()]
    );
    vault.remove(&other, None).await.expect("removes");
    assert_eq!(left(vault.scan().await.expect("scans")), [paths[2].clone()]);
    assert!(vault.remove(&other, None).await.expect("removes").is_empty());
    vault.append(&all[..1], true).await.expect("appends again");
    assert_eq!(ids(&read(&vault, &paths[0]).await), ["af_1"]);
}

/// Appends to one file at the same time: none is lost and none is doubled.
pub async fn takes_concurrent_appends(fixture: &impl Fixture) {
    let vault = fixture.vault();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..24 {
        let vault = vault.clone();
        let entry = fact("ann", &format!("af_{}", n / 2), "2023-05-08", "x");
        tasks.spawn(async move { vault.append(&[entry], false).await.map(|_| ()) });
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("no panic").expect("appends");
    }
    let file = read(&vault, ANN).await;
    let mut found = ids(&file);
    found.sort_unstable();
    let mut expected: Vec<String> = (0..12).map(|n| format!("af_{n}")).collect();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(file.problems, []);
}

/// The first answer is "all"; then every written, edited or deleted file is named, also one that is no memory.
pub async fn reports_changes(fixture: &impl Fixture) {
    let vault = fixture.vault();
    assert!(vault.changed().await.all);
    fixture.write(ANN, b"## A\n\nx\n");
    until(&vault, ANN).await;
    vault
        .append(&[fact("bob", "af_1", "2023-05-08", "x")], true)
        .await
        .expect("appends");
    until(&vault, "default/default/users/bob/facts/2023-05-08.md").await;
    fixture.delete(ANN);
    until(&vault, ANN).await;
    for text in ["one", "two"] {
        fixture.write("default/default/users/ann/notes.txt", text.as_bytes());
        while !vault.changed().await.beside {}
    }
}

async fn until(vault: &Arc<dyn WritableVault>, path: &str) {
    let tells = |change: &VaultChange| change.all || change.paths.contains(path);
    while !tells(&vault.changed().await) {}
}
