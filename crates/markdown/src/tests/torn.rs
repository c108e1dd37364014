//! A crash in the middle of an append, at every byte.

use super::{berlin, entries, place, plain};
use crate::{Change, change, ends_cleanly, new_file, parse, plan, render};

fn start() -> String {
    let first = render(&plain("ep_1", "First — ä", "text"), &berlin());
    format!(
        "{}\n{first}",
        new_file(model::EntryKind::Episode, "2023-05-08".parse().expect("a date"))
    )
}

fn appended(bytes: &[u8], more: &[model::Entry]) -> Vec<u8> {
    let zone = berlin();
    let plan = plan(bytes, &parse(bytes, &place(), &zone), more, &zone).expect("there is room");
    let mut out = bytes.to_vec();
    if let Some(cut) = plan.cut {
        out.truncate(cut.at);
    }
    out.extend_from_slice(plan.text.as_bytes());
    out
}

fn more() -> [model::Entry; 2] {
    let mut second = plain(
        "ep_2",
        "Second — 日本",
        "some text — ## \n\n## not a heading\n\n### a lower one\n\n<!-- end -->\nend",
    );
    second.summary = "short".to_owned();
    [second, plain("ep_3", "Third", "more")]
}

#[test]
fn the_same_append_repairs_a_crash_at_any_byte() {
    let start = start();
    let whole = appended(start.as_bytes(), &more());
    for len in start.len()..=whole.len() {
        let again = appended(&whole[..len], &more());
        let shown = String::from_utf8_lossy(&again);
        if whole[..len].trim_ascii_end().ends_with(b"\n<!-- end -->") {
            // Only a line feed was missing; the existing text stays.
            assert_eq!(shown.trim_end(), String::from_utf8_lossy(&whole).trim_end());
        } else {
            assert_eq!(shown, String::from_utf8_lossy(&whole), "torn at {len}");
        }
    }
}

#[test]
fn another_append_after_a_crash_finds_and_cuts_the_torn_entry() {
    let start = start();
    let [second, third] = more();
    let whole = appended(start.as_bytes(), std::slice::from_ref(&second));
    let clean = appended(start.as_bytes(), std::slice::from_ref(&third));
    let end = whole.len() - 2;
    for len in start.len()..end {
        let torn = &whole[..len];
        let parsed = parse(torn, &place(), &berlin());
        assert_eq!(entries(&parsed).len(), 1, "torn at {len}");
        let is_separator = len <= start.len() + 1;
        assert_eq!(parsed.torn.is_some(), !is_separator, "torn at {len}");
        assert_eq!(parsed.problems.is_empty(), is_separator, "torn at {len}");
        assert_eq!(parsed.broken, None);
        assert_eq!(ends_cleanly(torn), is_separator);
        let after = appended(torn, std::slice::from_ref(&third));
        assert_eq!(
            String::from_utf8_lossy(&after),
            String::from_utf8_lossy(&clean),
            "torn at {len}"
        );
        // Then the crashed append is repeated.
        let after = appended(&after, std::slice::from_ref(&second));
        let ids: Vec<_> = entries(&parse(&after, &place(), &berlin()))
            .into_iter()
            .map(|e| e.id)
            .collect();
        assert_eq!(ids.len(), 3);
    }
}

#[test]
fn empty_blocks_after_a_power_cut_are_removed() {
    let start = start();
    for (tail, torn) in [
        ("\n## Sec\0\0\0\0", true),
        ("\n\0\0\0\0", true),
        ("\n## Sec {#ep_2}\n- time: \0\0\n", true),
    ] {
        let bytes = format!("{start}{tail}").into_bytes();
        let parsed = parse(&bytes, &place(), &berlin());
        assert_eq!(parsed.torn.is_some(), torn);
        assert_eq!(entries(&parsed).len(), 1);
        let after = appended(&bytes, &more());
        assert_eq!(after, appended(start.as_bytes(), &more()));
    }
    // In the middle of the file only that entry is unreadable, and it may be written again.
    let damaged = start.replace("text", "te\0t");
    let parsed = parse(damaged.as_bytes(), &place(), &berlin());
    assert_eq!(
        (entries(&parsed).len(), parsed.problems.len(), parsed.torn),
        (0, 1, None)
    );
    let again = appended(damaged.as_bytes(), &[plain("ep_1", "First — ä", "text")]);
    assert_eq!(entries(&parse(&again, &place(), &berlin())).len(), 1);
}

#[test]
fn a_persons_text_at_the_end_is_never_removed() {
    for tail in [
        "\n## By hand\n\nno line feed at the end",
        "\n## By hand\n",
        "\n## By hand\n\ntext\n\n\n",
        "loose text",
    ] {
        let bytes = format!("{}{tail}", start());
        let after = appended(bytes.as_bytes(), &more());
        assert!(after.starts_with(bytes.as_bytes()));
        let parsed = parse(&after, &place(), &berlin());
        assert_eq!(entries(&parsed).len(), 3 + usize::from(tail.contains("By hand")));
    }
}

#[test]
fn an_edit_leaves_a_torn_tail_unchanged() {
    let bytes = format!("{}\n## Sec {{#ep_2}}\n- ti", start());
    let id = model::EntryId::new("ep_1");
    let parsed = parse(bytes.as_bytes(), &place(), &berlin());
    let after = change(bytes.as_bytes(), &parsed, &[Change::Remove(&id)], &berlin()).expect("is there");
    assert!(String::from_utf8_lossy(&after).ends_with("---\n\n# 8 May 2023\n\n## Sec {#ep_2}\n- ti"));
}
