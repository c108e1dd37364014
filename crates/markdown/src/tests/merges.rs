//! Files that a merge or another encoding left so that nobody may write to them.

use super::statements::{bodies, facts, read};
use super::{berlin, entries, plain};
use crate::{Broken, change, parse, render, upgraded};

#[test]
fn both_sides_of_a_merge_are_read_and_the_marks_are_not() {
    let own = |id: &str| format!("- {id} rows. <!--{id} 2023-05-08T14:00:00Z-->\n");
    let text = format!(
        "# About\n\n<<<<<<< HEAD\n{}- I like tea.\n||||||| 1a2b\n=======\n{}- I like milk.\n>>>>>>> theirs\n",
        own("af_1"),
        own("af_2")
    );
    let parsed = read(&text);
    assert_eq!(parsed.broken, Some(Broken::Conflict(3)));
    assert!(parsed.unwritable().is_some());
    assert_eq!(
        bodies(&parsed),
        ["af_1 rows.", "I like tea.", "af_2 rows.", "I like milk."]
    );
    assert_eq!(parsed.problems, []);
    let unchanged = change(text.as_bytes(), &parsed, &[], &berlin()).expect("is there");
    assert_eq!(unchanged, text.as_bytes());
}

#[test]
fn a_merge_within_an_entry_costs_no_other() {
    let [one, two] = ["ep_1", "ep_2"].map(|id| render(&plain(id, id, "same\nown"), &berlin()));
    let text = format!("{one}\n{two}")
        .replacen("own\n\n<!-- end -->", "<<<<<<< HEAD\nown\n\n<!-- end -->", 1)
        .replacen(
            "## ep_2",
            "=======\nother\n>>>>>>> theirs\n\n<!-- end -->\n\n## ep_2",
            1,
        );
    let parsed = super::read(&text);
    assert_eq!(parsed.broken, Some(Broken::Conflict(4)));
    assert_eq!(bodies(&parsed), ["same\n\nown", "same\nown"]);
    assert_eq!(
        upgraded(
            format!("---\nquipu: 1\n---\n{text}").as_bytes(),
            &super::place(),
            &berlin()
        ),
        None
    );
}

#[test]
fn texts_that_quote_a_merge_are_texts() {
    let quoted = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs";
    let one = plain("ep_1", "A", quoted);
    let parts = ["<<<<<<< HEAD", "=======", ">>>>>>> theirs"];
    let all: Vec<_> = parts
        .iter()
        .map(|part| plain(part, "B", part))
        .chain([one])
        .collect();
    let text: String = all.iter().map(|entry| render(entry, &berlin())).collect();
    let parsed = super::read(&format!("{text}## By hand\n```\n{quoted}\n```\n"));
    assert_eq!(parsed.broken, None);
    assert_eq!(entries(&parsed)[..4], all);
    // A mark alone is a line that somebody forgot.
    let alone = read("<<<<<<< HEAD\n- I like tea.\n");
    assert_eq!(
        (bodies(&alone).len(), alone.problems.len(), alone.broken),
        (1, 1, None)
    );
}

#[test]
fn utf_16_is_named_and_nothing_of_it_is_damaged() {
    let text = "\u{feff}## A\n\nx\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [little, big] {
        let parsed = parse(&bytes, &facts(), &berlin());
        assert_eq!((&parsed.blocks[..], &parsed.problems[..]), (&[][..], &[][..]));
        assert!(parsed.unwritable().is_some());
        let reason = parsed.broken.map(|broken| broken.to_string());
        assert_eq!(reason.as_deref(), Some("the file is UTF-16: save it as UTF-8"));
    }
    let marked = parse(text.as_bytes(), &facts(), &berlin());
    assert_eq!((bodies(&marked), marked.broken), (vec!["x".to_owned()], None));
}
