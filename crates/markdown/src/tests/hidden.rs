//! Text that a rendered page hides.

use super::statements::{bodies, read};
use super::{berlin, entries, plain};
use crate::{Change, change, render};

#[test]
fn an_entry_by_hand_contains_no_hidden_text() {
    let text = "## Dog <!-- or cat -->\nBodo %%not his name%% barks.\n\n<!--\n## Old\n- I hide.\n-->\n`<!-- shown -->`\n%%\nI hide too.\n%%\nend\n\n```\n## a comment of a shell\n<!-- shown -->\n```\n## Next\nx\n";
    let parsed = super::read(text);
    let found = entries(&parsed);
    assert_eq!(parsed.problems, []);
    assert_eq!((found.len(), found[0].subject.as_str()), (2, "Dog"));
    let lines: Vec<&str> = found[0].body.lines().filter(|line| !line.is_empty()).collect();
    let shown = [
        "Bodo barks.",
        "`<!-- shown -->`",
        "end",
        "```",
        "## a comment of a shell",
        "<!-- shown -->",
        "```",
    ];
    assert_eq!(lines, shown);
}

#[test]
fn texts_that_quipu_wrote_hide_nothing() {
    let body = "a %%b%% <!-- c -->\n<!--\nd\n-->\n%%\ne\n%%\n```";
    let entry = plain("ep_1", "x <!-- y -->", body);
    assert_eq!(entries(&super::read(&render(&entry, &berlin()))), [entry]);
}

#[test]
fn an_edit_keeps_hidden_text() {
    let text = "- I have a dog. <!-- which\n  one? -->\n- I row. %%no%%\n";
    let parsed = read(text);
    assert_eq!(bodies(&parsed), ["I have a dog.", "I row."]);
    let mut entry = entries(&parsed)[0].clone();
    entry.body = "I have a cat.".to_owned();
    let after = change(text.as_bytes(), &parsed, &[Change::Replace(&entry)], &berlin()).expect("is there");
    let after = String::from_utf8(after).expect("text");
    assert!(after.contains("-->\n<!-- which\n"), "{after}");
    assert_eq!(bodies(&read(&after)), ["I have a cat.", "I row."]);
    assert_eq!(read(&after).problems, []);
    // After another edit, the text is still there once.
    entry.body = "I have two cats.".to_owned();
    let again = change(
        after.as_bytes(),
        &read(&after),
        &[Change::Replace(&entry)],
        &berlin(),
    )
    .expect("is there");
    assert_eq!(
        String::from_utf8_lossy(&again),
        after.replace("a cat", "two cats")
    );
}

#[test]
fn text_behind_a_comment_of_several_lines_is_read() {
    let parsed = read("<!--\nI hide.\n--> I am behind.\n- I row. <!-- no\nmore --> Fast.\n");
    assert_eq!(bodies(&parsed), ["I am behind.", "I row. Fast."]);
    assert_eq!(parsed.problems, []);
}

#[test]
fn an_unclosed_mark_hides_no_entry() {
    let own = "- I swim. <!--af_1 2023-05-08T14:00:00Z-->\n";
    for open in ["<!--", "%%", "```", "$$", "- ```"] {
        let parsed = read(&format!("- I row.\n\n{open}\nI smoke.\n{own}\n## By hand\nx\n"));
        let found = bodies(&parsed);
        assert!(
            found.contains(&"I swim.".to_owned()) && found.contains(&"x".to_owned()),
            "{open}: {found:?}"
        );
        assert_eq!(parsed.problems.len(), 1, "{open}");
        assert_eq!(parsed.problems[0].line, 3, "{open}");
        assert!(!found.contains(&"I smoke.".to_owned()), "{open}");
    }
    let within = read("- I use %%time cells.\n- I row <!-- oops\n- I swim. <!-- fast -->\n");
    assert_eq!(bodies(&within), ["I use %%time cells.", "I swim."]);
    assert_eq!(within.problems.len(), 1);
}

#[test]
fn a_person_can_hide_a_fact_that_quipu_wrote() {
    let own = |id: &str| format!("- {id} rows. <!--{id} 2023-05-08T14:00:00Z-->\n");
    let (one, two) = (own("af_1"), own("af_2"));
    for (open, close) in [("<!--\n", "-->\n"), ("%%\n", "%%\n"), ("<!-- ", "-->\n")] {
        let text = format!("{open}{one}{close}{two}");
        assert_eq!(bodies(&read(&text)), ["af_2 rows."], "{text}");
    }
}
