//! What changed is counted by entry, told in a line, and merged without losing or doubling one.

use expect_test::expect;
use proptest::prelude::*;

use crate::sections::{Counts, headline, merge};

const FACTS: &str = "default/default/users/alice/facts/2023-05-08.md";

fn counts(added: usize, changed: usize, removed: usize) -> Counts {
    Counts {
        added,
        changed,
        removed,
    }
}

fn entry(id: u8, text: u8) -> String {
    format!("\n## Subject {{#af_{id}}}\n\ntext {text}\n<!-- end -->\n")
}

fn file(entries: &[(u8, u8)]) -> String {
    let entries = entries.iter().map(|&(id, text)| entry(id, text));
    format!("---\nquipu: 1\n---\n{}", entries.collect::<String>())
}

#[test]
fn counts_by_heading_whatever_stands_around() {
    let before = "intro\n## A\nx\n## A\ny\n## B {#b}\nz\n";
    for (after, expected) in [
        (before, counts(0, 0, 0)),
        ("other\n\n## A\nx\n\n\n## A\ny\n## B {#b}\nz", counts(0, 0, 0)),
        ("## A\nx\n## Renamed {#b}\nz\n", counts(0, 1, 1)),
        ("## A\nx\n## A\ny\n## A\nw\n## C\n", counts(2, 0, 1)),
        ("", counts(0, 0, 3)),
    ] {
        assert_eq!(Counts::of(before, after), expected, "{after}");
    }
}

#[test]
fn tells_a_change_in_one_line() {
    let told = |files: &[(&str, Counts)]| headline(files) + "\n";
    let capital = "default/default/agents/Coder=1/episodes/2023-05-08.md";
    let all = [
        told(&[(FACTS, counts(1, 0, 0))]),
        told(&[(FACTS, counts(2, 1, 3)), (FACTS, counts(0, 0, 0))]),
        told(&[(FACTS, counts(0, 0, 12)), (capital, counts(0, 1, 0))]),
        told(&[(capital, counts(0, 0, 0))]),
        told(&[("notes\n.txt", counts(0, 0, 0)), ("b", counts(0, 0, 0))]),
        told(&[("notes\n.txt", counts(0, 1, 0))]),
    ];
    expect![[r"
        facts of alice: 1 entry added
        facts of alice: 2 entries added, 1 changed, 3 removed in 2 files
        memory of 2 owners: 1 entry changed, 12 removed in 2 files
        episodes of Coder: 1 file changed
        the vault: 2 files changed
        notes?.txt: 1 entry changed
    "]]
    .assert_eq(&all.concat());
}

#[test]
fn merges_entries_that_stand_side_by_side() {
    let base = file(&[(1, 0), (2, 0)]);
    let ours = file(&[(1, 0), (2, 0), (3, 0)]);
    let theirs = file(&[(1, 0)]);
    let merged = merge(&base, &ours, Some(&theirs));
    assert_eq!(merged, Some(file(&[(1, 0), (3, 0)])));
    assert_eq!(merge(&base, &ours, None), Some(file(&[(3, 0)])));
    let restored = merge(&theirs, &file(&[(1, 0), (3, 0)]), Some(&base));
    assert_eq!(restored, Some(file(&[(1, 0), (2, 0), (3, 0)])));
}

#[test]
fn refuses_an_entry_that_both_changed() {
    let [base, ours, theirs] = [0, 1, 2].map(|text| file(&[(1, 0), (2, text)]));
    assert_eq!(merge(&base, &ours, Some(&theirs)), None);
    assert_eq!(merge(&base, &ours, Some(&file(&[(1, 0)]))), None);
    assert_eq!(merge(&base, &file(&[(1, 0)]), Some(&theirs)), None);
    assert_eq!(merge(&base, &ours, None), None);
}

#[test]
fn refuses_to_join_two_entries_into_one_line() {
    let (base, ours) = ("## A\nx", "## A\nx");
    assert_eq!(
        merge(base, ours, Some("## A\nx\n## B\n")),
        Some("## A\nx\n## B\n".to_owned())
    );
    assert_eq!(
        merge("", "## A\nx", Some("## B\n")),
        Some("## B\n## A\nx".to_owned())
    );
    assert_eq!(merge("## A\nx", "## A\ny", Some("## A\nx## B\n")), None);
    assert_eq!(merge("## A\nx\n", "## A\nw", Some("## A\nx\n## B\n")), None);
}

/// Entries in order of their ids, each with one of three texts.
fn entries() -> impl Strategy<Value = Vec<(u8, u8)>> {
    let texts = proptest::collection::btree_map(0u8..8, 0u8..3, 0..8);
    texts.prop_map(|texts| texts.into_iter().collect())
}

proptest! {
    #[test]
    fn merges_as_sets_of_entries_do(base in entries(), ours in entries(), theirs in entries()) {
        let find = |entries: &[(u8, u8)], id| entries.iter().find(|entry| entry.0 == id).copied();
        let mut expected = Some(Vec::new());
        for id in 0..8 {
            let [was, now, then] = [&base, &ours, &theirs].map(|entries| find(entries, id));
            let kept = match () {
                () if was == now => then,
                () if was == then || now == then => now,
                () => {
                    expected = None;
                    break;
                }
            };
            expected.as_mut().expect("no conflict yet").extend(kept);
        }
        let merged = merge(&file(&base), &file(&ours), Some(&file(&theirs)));
        let sorted = |text: String| {
            let mut entries: Vec<String> = text.split("\n## ").map(str::to_owned).collect();
            entries.sort();
            entries
        };
        prop_assert_eq!(merged.map(sorted), expected.map(|entries| sorted(file(&entries))));
    }

    #[test]
    fn any_text_merges_with_what_did_not_change(base in "[#\\n a{}<]{0,40}", other in "[#\\n a{}<]{0,40}") {
        prop_assert_eq!(merge(&base, &base, Some(&base)), Some(base.clone()));
        if let Some(merged) = merge(&base, &other, Some(&base)) {
            prop_assert_eq!(merged, other);
        }
    }
}
