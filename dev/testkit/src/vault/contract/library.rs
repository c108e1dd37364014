//! The contract for libraries of documents: files that change in one edit, and a shelf.
//!
//! Owns: these clauses. Never: the clauses for every owner.

use model::{Entry, Name, Owner, Scope};
use ports::{Edit, LibraryFiles, ORIGINALS, TAXONOMY, VaultError};

use super::super::samples::fact;
use super::{ANN, Fixture, entries, path, read};

/// `Put` appends an entry that the file does not have; a file without entries is removed, unless a person
/// wrote in it.
pub async fn puts_entries_and_removes_the_last(fixture: &impl Fixture) {
    let vault = fixture.vault();
    let [one, two] = ["af_1", "af_2"].map(|id| fact("ann", id, "2023-05-08", id));
    vault
        .append(std::slice::from_ref(&one), true)
        .await
        .expect("appends");
    let new = Entry {
        body: "new".to_owned(),
        ..one.clone()
    };
    for _ in 0..2 {
        let put = [two.clone(), new.clone()].map(|entry| Edit::Put(Box::new(entry)));
        vault.edit(&path(ANN), &put).await.expect("puts");
        assert_eq!(entries(&read(&vault, ANN).await), [new.clone(), two.clone()]);
    }
    let all = [one, two].map(|entry| Edit::Remove(entry.id));
    let text = fixture.bytes(ANN).expect("is there");
    assert_eq!(vault.edit(&path(ANN), &all).await.expect("edits"), None);
    assert_eq!(fixture.bytes(ANN), None);
    fixture.write(ANN, &[&text[..], b"\nloose\n"].concat());
    assert!(vault.edit(&path(ANN), &all).await.expect("edits").is_some());
    assert!(fixture.bytes(ANN).expect("is there").ends_with(b"loose\n"));
}

/// Library files next to memory: separate for each library, only in two places, removed with the library.
pub async fn keeps_library_files(fixture: &impl Fixture, shelf: &dyn LibraryFiles) {
    let [ours, theirs] = ["ours", "theirs"].map(|name| Owner::library(Name::parse(name).expect("a name")));
    let scope = Scope::default();
    let file = "originals/d_1/a b.pdf";
    for (library, bytes) in [(&ours, b"one"), (&ours, b"two"), (&theirs, b"abc")] {
        let path = shelf
            .put(&scope, library, file, bytes.to_vec().into())
            .await
            .expect("puts");
        assert_eq!(fixture.bytes(&path).expect("is there"), bytes);
    }
    let both = [&ours, &theirs].map(|library| (scope.clone(), library.clone()));
    assert_eq!(shelf.libraries().await.expect("lists"), both);
    shelf
        .put(&scope, &ours, TAXONOMY, b"- a: b".to_vec().into())
        .await
        .expect("puts");
    assert_eq!(
        shelf.get(&scope, &ours, file).await.expect("gets"),
        Some(b"two".to_vec())
    );
    assert_eq!(
        shelf.names(&scope, &ours, ORIGINALS).await.expect("lists"),
        ["d_1"]
    );
    assert_eq!(
        shelf.names(&scope, &ours, "originals/d_1").await.expect("lists"),
        ["a b.pdf"]
    );
    assert!(fixture.vault().scan().await.expect("scans").is_empty());
    let leads_out = [
        "originals/../x",
        "originals//x",
        "topics/d.md",
        "/etc/passwd",
        "originals/a\\b",
        "..",
    ];
    for name in leads_out {
        let refused = shelf.put(&scope, &ours, name, Vec::new().into()).await;
        assert!(matches!(refused, Err(VaultError::Outside { .. })), "{name}");
        let refused = shelf.discard(&scope, &ours, name).await;
        assert!(matches!(refused, Err(VaultError::Outside { .. })), "{name}");
    }
    for _ in 0..2 {
        shelf
            .discard(&scope, &ours, "originals/d_1")
            .await
            .expect("discards");
        assert_eq!(shelf.get(&scope, &ours, file).await.expect("gets"), None);
    }
    assert_eq!(shelf.libraries().await.expect("lists"), both[1..]);
    fixture
        .vault()
        .remove(&scope, Some(&ours))
        .await
        .expect("removes");
    assert_eq!(shelf.get(&scope, &ours, TAXONOMY).await.expect("gets"), None);
    assert!(shelf.get(&scope, &theirs, file).await.expect("gets").is_some());
    fixture.vault().remove(&scope, None).await.expect("removes");
    assert_eq!(shelf.get(&scope, &theirs, file).await.expect("gets"), None);
}
