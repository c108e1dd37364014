//! The contract of the pages port, run against the fake and the real vault.
//!
//! Owns: the port's promises as assertions. Never: the text of a page.

use std::collections::BTreeSet;

use model::{Name, Owner, Page, Scope};
use ports::{Pages, VaultError, VaultWriter};

use super::Fixture;
use crate::vault::samples::user;

const ANN: &str = "default/default/users/ann/USER.md";
const ANN_BEFORE: &str = "default/default/users/ann/.previous/USER.md";

/// Runs every clause, each on an empty vault that `open` makes; `pages` returns its port of pages.
pub async fn holds<F: Fixture, P: Pages + VaultWriter + ?Sized>(
    open: impl AsyncFn() -> F,
    pages: impl Fn(&F) -> &P,
) {
    let opened = open().await;
    replaces_only_the_page_that_was_read(&opened, pages(&opened)).await;
    let opened = open().await;
    keeps_the_previous_version(&opened, pages(&opened)).await;
    let opened = open().await;
    keeps_owners_and_pages_apart(pages(&opened)).await;
    let opened = open().await;
    remembers_generated_ids(pages(&opened)).await;
    let opened = open().await;
    is_no_memory_file(&opened, pages(&opened)).await;
    let opened = open().await;
    refuses_a_page_that_is_no_text(&opened, pages(&opened)).await;
}

async fn page(pages: &(impl Pages + VaultWriter + ?Sized), page: Page) -> Option<String> {
    pages
        .page(&Scope::default(), &user("ann"), page)
        .await
        .expect("reads")
}

async fn put(pages: &(impl Pages + VaultWriter + ?Sized), before: Option<&str>, text: &str) -> bool {
    pages
        .replace_page(&Scope::default(), &user("ann"), Page::User, before, text)
        .await
        .expect("writes")
}

/// A page that a person saved meanwhile stays.
pub async fn replaces_only_the_page_that_was_read(
    fixture: &impl Fixture,
    pages: &(impl Pages + VaultWriter + ?Sized),
) {
    assert_eq!(page(pages, Page::User).await, None);
    assert!(!put(pages, Some(""), "one").await, "there is no page");
    assert!(put(pages, None, "one\n").await);
    assert_eq!(fixture.bytes(ANN).as_deref(), Some(&b"one\n"[..]));
    assert!(!put(pages, None, "two").await);
    fixture.write(ANN, "a person's \u{e9}\r\n".as_bytes());
    assert!(!put(pages, Some("one\n"), "two").await);
    assert_eq!(
        page(pages, Page::User).await.as_deref(),
        Some("a person's \u{e9}\r\n")
    );
    assert!(put(pages, Some("a person's \u{e9}\r\n"), "two").await);
    assert_eq!(page(pages, Page::User).await.as_deref(), Some("two"));
}

/// One previous version is kept, until it is dropped.
pub async fn keeps_the_previous_version(fixture: &impl Fixture, pages: &(impl Pages + VaultWriter + ?Sized)) {
    assert!(put(pages, None, "one").await);
    assert_eq!(fixture.bytes(ANN_BEFORE), None);
    for (before, text) in [("one", "two"), ("two", "three")] {
        assert!(put(pages, Some(before), text).await);
        assert_eq!(fixture.bytes(ANN_BEFORE).as_deref(), Some(before.as_bytes()));
    }
    for _ in 0..2 {
        pages
            .drop_previous(&Scope::default(), &user("ann"))
            .await
            .expect("drops");
        assert_eq!(fixture.bytes(ANN_BEFORE), None);
    }
    assert_eq!(page(pages, Page::User).await.as_deref(), Some("three"));
    assert!(put(pages, Some("three"), "four").await);
    for _ in 0..2 {
        pages
            .remove_pages(&Scope::default(), &user("ann"))
            .await
            .expect("removes");
    }
    assert_eq!((fixture.bytes(ANN), fixture.bytes(ANN_BEFORE)), (None, None));
}

/// Owners and pages with names that differ only in case are separate, and so are tenants.
pub async fn keeps_owners_and_pages_apart(pages: &(impl Pages + VaultWriter + ?Sized)) {
    let name = |text: &str| Name::parse(text).expect("a name");
    let other = Scope::new(name("other"), name("default"));
    let agent = Owner::agent(name("ann"));
    let all = [
        (Scope::default(), user("ann")),
        (Scope::default(), user("Ann")),
        (Scope::default(), agent),
        (other, user("ann")),
    ];
    for (n, (scope, owner)) in all.iter().enumerate() {
        for page in Page::ALL {
            let text = format!("{n} {}", page.as_str());
            assert!(
                pages
                    .replace_page(scope, owner, page, None, &text)
                    .await
                    .expect("writes")
            );
        }
    }
    pages.remove_pages(&all[1].0, &all[1].1).await.expect("removes");
    for (n, (scope, owner)) in all.iter().enumerate() {
        for page in Page::ALL {
            let expected = (n != 1).then(|| format!("{n} {}", page.as_str()));
            assert_eq!(pages.page(scope, owner, page).await.expect("reads"), expected);
        }
    }
}

/// The ids of generated memories belong to the owner and are removed with the owner.
pub async fn remembers_generated_ids(pages: &(impl Pages + VaultWriter + ?Sized)) {
    let scope = Scope::default();
    let made = async |name: &str| pages.made(&scope, &user(name)).await.expect("reads");
    assert_eq!(made("ann").await, BTreeSet::new());
    for ids in [&["pf_1", "pf_2"][..], &["pf_2"], &[]] {
        let ids: BTreeSet<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        pages.set_made(&scope, &user("ann"), &ids).await.expect("writes");
        assert_eq!(made("ann").await, ids);
        assert_eq!(made("bob").await, BTreeSet::new());
    }
    let ids = BTreeSet::from(["pf_3".to_owned()]);
    pages.set_made(&scope, &user("ann"), &ids).await.expect("writes");
    pages.drop_previous(&scope, &user("ann")).await.expect("drops");
    assert_eq!(made("ann").await, ids);
    pages.remove_pages(&scope, &user("ann")).await.expect("removes");
    assert_eq!(made("ann").await, BTreeSet::new());
}

/// A page is never synced, listed or read as memories.
pub async fn is_no_memory_file(fixture: &impl Fixture, pages: &(impl Pages + VaultWriter + ?Sized)) {
    assert!(put(pages, None, "one").await && put(pages, Some("one"), "two").await);
    let vault = fixture.vault();
    assert_eq!(vault.scan().await.expect("lists"), []);
    let read = vault.read(&ANN.into()).await;
    assert!(matches!(read, Err(VaultError::Outside { .. })), "{read:?}");
}

/// Bytes that are no UTF-8 are neither read nor written over.
pub async fn refuses_a_page_that_is_no_text(
    fixture: &impl Fixture,
    pages: &(impl Pages + VaultWriter + ?Sized),
) {
    fixture.write(ANN, b"caf\xe9");
    let read = pages.page(&Scope::default(), &user("ann"), Page::User).await;
    assert!(matches!(read, Err(VaultError::Broken { .. })), "{read:?}");
    let put = pages
        .replace_page(&Scope::default(), &user("ann"), Page::User, None, "mine")
        .await;
    assert!(!matches!(put, Ok(true)), "{put:?}");
    assert_eq!(fixture.bytes(ANN).as_deref(), Some(&b"caf\xe9"[..]));
}
