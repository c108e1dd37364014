//! Files after a merge or in another encoding.

use super::statements::{bodies, facts, read};
use super::{berlin, entries, plain, problems};
use crate::{Broken, change, parse, render};

const CONFLICT: &str = "a conflict of a merge begins here: keep what is right, then delete the lines `<<<<<<<`, `=======` and `>>>>>>>`";

#[test]
fn both_sides_of_a_merge_are_read_and_the_marks_are_not() {
    let own = |id: &str| format!("- {id} rows. <!--{id} 2023-05-08T14:00:00Z-->\n");
    let text = format!(
        "# About\n\n<<<<<<< HEAD\n{}- I like tea.\n||||||| 1a2b\n=======\n{}- I like milk.\n>>>>>>> theirs\n",
        own("af_1"),
        own("af_2")
    );
    let parsed = read(&text);
    assert_eq!(parsed.broken, None);
    assert_eq!(
        bodies(&parsed),
        ["af_1 rows.", "I like tea.", "af_2 rows.", "I like milk."]
    );
    assert_eq!(problems(&parsed)[..], [format!("3: {CONFLICT}")]);
    let unchanged = change(text.as_bytes(), &parsed, &[], &berlin()).expect("is there");
    assert_eq!(unchanged, text.as_bytes());
}

#[test]
fn a_merge_conflict_within_an_entry_hides_no_other() {
    let [one, two] = ["ep_1", "ep_2"].map(|id| render(&plain(id, id, "same\nown"), &berlin()));
    let text = format!("{one}\n{two}")
        .replacen("own\n\n<!-- end -->", "<<<<<<< HEAD\nown\n\n<!-- end -->", 1)
        .replacen(
            "## ep_2",
            "=======\nother\n>>>>>>> theirs\n\n<!-- end -->\n\n## ep_2",
            1,
        );
    let parsed = super::read(&text);
    let problems = problems(&parsed);
    assert_eq!((problems.len(), &problems[0]), (2, &format!("4: {CONFLICT}")));
    assert!(problems[1].starts_with("10: text outside"), "{problems:?}");
    assert_eq!(bodies(&parsed), ["same\n\nown", "same\nown"]);
}

#[test]
fn a_conflict_in_one_entry_is_reported_and_both_sides_stay_in_its_text() {
    let text = render(&plain("ep_1", "A", "same\nours"), &berlin());
    let merged = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> theirs";
    let text = text.replace("ours", merged);
    let parsed = super::read(&text);
    assert_eq!(problems(&parsed)[..], [format!("4: {CONFLICT}")]);
    assert_eq!(bodies(&parsed), [format!("same\n{merged}")]);
    assert!(parsed.unwritable().is_none());
}

#[test]
fn a_text_may_quote_a_merge_conflict() {
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
    assert_eq!(parsed.problems, []);
    assert_eq!(entries(&parsed)[..4], all);
    // A single mark is a forgotten line.
    let alone = read("<<<<<<< HEAD\n- I like tea.\n");
    assert_eq!(
        (bodies(&alone).len(), alone.problems.len(), alone.broken),
        (1, 1, None)
    );
}

#[test]
fn utf_16_is_reported_and_left_undamaged() {
    let text = "\u{feff}## A\n\nx\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let [bare_little, bare_big] = [little[2..].to_vec(), big[2..].to_vec()];
    for bytes in [little, big, bare_little, bare_big] {
        let parsed = parse(&bytes, &facts(), &berlin());
        assert_eq!(
            (&bodies(&parsed)[..], &parsed.problems[..]),
            (&["x".to_owned()][..], &[][..])
        );
        assert!(parsed.unwritable().is_some());
        assert_eq!(parsed.broken, Some(Broken::Utf16));
    }
    let marked = parse(text.as_bytes(), &facts(), &berlin());
    assert_eq!((bodies(&marked), marked.broken), (vec!["x".to_owned()], None));
}

#[test]
fn only_an_incompletely_read_file_may_hide_an_entry() {
    let utf_16 = |text: &str| -> Vec<u8> {
        format!("\u{feff}{text}")
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect()
    };
    let is_unread = |bytes: &[u8]| parse(bytes, &facts(), &berlin()).is_unread;
    for whole in [
        utf_16("# Nothing\n"),
        utf_16("---\na: [b\n---\n"),
        b"---\na: [b\n---\n# Nothing\n".to_vec(),
        b"---\nquipu: 2\n\n- I row.\n".to_vec(),
        b"# Nothing\n".to_vec(),
    ] {
        assert!(!is_unread(&whole), "{}", String::from_utf8_lossy(&whole));
    }
    for hiding in [
        utf_16("---\nquipu: 99\n---\n"),
        utf_16("---\nquipu: 2\n- I row.\n"),
        b"---\nquipu: 2\n- I row.\n".to_vec(),
        b"- I am \xff.\n".to_vec(),
    ] {
        assert!(is_unread(&hiding), "{}", String::from_utf8_lossy(&hiding));
    }
    let skill = crate::Place::of("default/default/agents/ann/skills/sail/SKILL.md").expect("a place");
    assert!(parse(b"---\na: [b\n---\n", &skill, &berlin()).is_unread);
}

#[test]
fn the_first_of_two_entries_with_one_id_counts_in_any_list() {
    let side = |text: &str| format!("1. {text} <!--af_1 2026-02-01T22:53:20Z-->\n");
    let text = format!(
        "<<<<<<< HEAD\n{}=======\n{}>>>>>>> x\n",
        side("I row."),
        side("I sail.")
    );
    assert_eq!(bodies(&parse(text.as_bytes(), &facts(), &berlin())), ["I row."]);
}
