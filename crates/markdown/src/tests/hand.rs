//! Edits by people.

use model::{EntryId, Origin};

use super::{berlin, entries, place, plain, problems, read};
use crate::{Broken, Change, Place, change, parse, render};

#[test]
fn a_heading_and_text_are_an_entry() {
    let parsed = read("## Pottery\n\nOn Mondays.\n\n## Pottery\nBring an apron.\n");
    let found = entries(&parsed);
    assert_eq!(problems(&parsed), [""; 0]);
    assert_eq!(found[0].subject, "Pottery");
    assert_eq!(found[0].body, "On Mondays.");
    assert_eq!(found[0].origin, Origin::Hand);
    assert_eq!(found[0].time, berlin().parse("2023-05-08").expect("a time"));
    assert_eq!(found[0].owner, place().owner);
    assert_eq!(found[1].body, "Bring an apron.");
    assert_ne!(found[0].id, found[1].id);
}

#[test]
fn a_derived_id_stays_while_its_heading_and_its_place_among_equals_stay() {
    let ids = |text: &str| {
        entries(&read(text))
            .into_iter()
            .map(|e| (e.subject, e.id))
            .collect::<Vec<_>>()
    };
    let before = ids("## A\nx\n\n## B\ny\n\n## A\nz\n");
    let after = ids("# Title\n\n## New\nn\n\n## A\nchanged\n- time: no key\n\n## A\nz\n## B\n");
    assert_eq!(after[1], before[0]);
    assert_eq!(after[2], before[2]);
    assert_eq!(after[3], before[1]);
    let elsewhere = Place::of("default/default/users/alice/episodes/2023-05-09.md").expect("a place");
    let other = parse(b"## A\nx\n", &elsewhere, &berlin());
    assert_ne!(other.blocks[0].id, before[0].1);
    assert_eq!(
        before[0].1,
        EntryId::new("ep_hand_903d97be65b1496e"),
        "ids in the wild must not change"
    );
}

#[test]
fn the_path_decides_the_owner_and_the_front_matter_adds_the_date() {
    let elsewhere = Place::of("app/project/agents/coder/facts/trips/lisbon.md").expect("a place");
    let parsed = parse(
        b"---\nquipu: 1\ndate: 2024-02-03\nmood: [calm]\n---\n\n## A\nx\n",
        &elsewhere,
        &berlin(),
    );
    let entry = &entries(&parsed)[0];
    assert_eq!(entry.time, berlin().parse("2024-02-03").expect("a time"));
    assert_eq!(entry.owner, elsewhere.owner);
    assert_eq!(entry.id.as_str().split('_').next(), Some("af"));
    let undated = parse(
        b"## A\nx\n\n## B\n- time: 2024-02-03 10:00\ny\n",
        &elsewhere,
        &berlin(),
    );
    assert_eq!(entries(&undated).len(), 1);
    assert_eq!(undated.problems.len(), 1);
}

#[test]
fn unknown_keys_and_the_text_around_survive_an_edit() {
    let text = "---\nquipu: 1\ncolour: blue # mine\n---\nintro\n\n## A {#ep_1}\n- time: 2023-05-08T14:00:00+02:00\n- mood: good\n\nold\n<!-- end -->\nloose\n## B\nb";
    let parsed = read(text);
    let mut entry = entries(&parsed)[0].clone();
    entry.body = "new".to_owned();
    let after = change(text.as_bytes(), &parsed, &[Change::Replace(&entry)], &berlin()).expect("is there");
    let after = String::from_utf8(after).expect("text");
    let heading = "## A <!--ep_1 2023-05-08T14:00:00+02:00 origin=hand author parent senders-->";
    let expected = text.replace("## A {#ep_1}", heading).replace("old\n", "new\n\n");
    assert_eq!(after, expected);
    let same = entries(&parsed)[1].clone();
    let untouched = change(text.as_bytes(), &parsed, &[Change::Replace(&same)], &berlin()).expect("is there");
    assert_eq!(
        untouched,
        text.as_bytes(),
        "an entry that is as it was is not written anew"
    );
    assert_eq!(
        change(
            text.as_bytes(),
            &parsed,
            &[Change::Remove(&EntryId::new("ep_9"))],
            &berlin()
        ),
        Err(EntryId::new("ep_9"))
    );
}

#[test]
fn an_edit_keeps_the_files_line_ends_and_removes_every_copy() {
    let text = "## A {#ep_1}\r\na\r\n<!-- end -->\r\n\r\n## A {#ep_1}\r\ncopy\r\n<!-- end -->\r\n\r\n## B {#ep_2}\r\nb\r\n<!-- end -->\r\n";
    let parsed = read(text);
    let mut entry = entries(&parsed)[0].clone();
    entry.body = "one\ntwo".to_owned();
    let after = change(text.as_bytes(), &parsed, &[Change::Replace(&entry)], &berlin()).expect("is there");
    let after = String::from_utf8(after).expect("text");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    assert_eq!(entries(&read(&after))[0], entry);
    let gone = change(
        text.as_bytes(),
        &parsed,
        &[Change::Remove(&EntryId::new("ep_1"))],
        &berlin(),
    )
    .expect("is there");
    assert_eq!(
        String::from_utf8_lossy(&gone),
        "## B {#ep_2}\r\nb\r\n<!-- end -->\r\n"
    );
}

#[test]
fn a_broken_entry_hides_no_other() {
    let text = "## A {#ep_1}\n- time: yesterday\n\na\n<!-- end -->\n\n## B {#ep_2}\nb\n<!-- end -->\n\n## C {#ep_2}\nc\n<!-- end -->\n\nloose\nlines\n\n## D {#ep_4}\n\n### Bob (owner, 14:00) {#m_1}\n\n<!-- end -->\n## E {#ep_5}\n- origin: god\n- senders: a b\n<!-- end -->\n## F\nf\n";
    let parsed = read(text);
    let subjects: Vec<_> = entries(&parsed).into_iter().map(|e| e.subject).collect();
    assert_eq!(subjects, ["B", "F"]);
    expect_test::expect![[r"
        2: `yesterday` is not a value for `time`: use a time, as in `2023-05-08T14:00`
        11: an earlier entry already has the id `ep_2`: remove the id from this line
        15: text outside of an entry: give it a heading, as in `## Pottery on Mondays`
        20: `(owner, 14:00)` is not `(user, 2023-05-08T14:00)`, a role and a time
        24: `god` is not a value for `origin`: use user, assistant, tool, web, import or hand"]]
    .assert_eq(&problems(&parsed).join("\n"));
    // An entry that a person made unreadable still exists: an append does not write it again.
    assert!(parsed.ids().contains(&EntryId::new("ep_1")));
}

#[test]
fn invalid_front_matter_quarantines_the_file_and_hides_nothing() {
    let entry = "## A\nx\n\n---\n\nmore\n";
    let cases = [
        ("---\nquipu: [1\n---\n", "the front matter is not YAML"),
        ("---\njust text\n---\n", "the front matter is not YAML"),
        ("---\nquipu: one\n---\n", "the front matter is not YAML"),
        (
            "---\nquipu: 1\n",
            "the front matter that starts in line 1 has no line `---` at its end",
        ),
    ];
    for (front, reason) in cases {
        let parsed = read(&format!("{front}{entry}"));
        let broken = parsed
            .broken
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(broken.starts_with(reason), "{broken}");
        assert_eq!(entries(&parsed)[0].body, "x\n\n---\n\nmore");
        assert_eq!(parsed.unwritable(), None);
    }
}

#[test]
fn a_later_version_is_neither_read_nor_written() {
    let parsed = read("---\nquipu: 3\n---\n## A\nx\n");
    assert_eq!(parsed.broken, Some(Broken::Version("3".to_owned())));
    assert_eq!(parsed.blocks, []);
    assert!(parsed.unwritable().is_some());
}

#[test]
fn invalid_bytes_make_only_their_entry_unreadable() {
    let mut bytes = b"## A\nx\n\n## B\ny ".to_vec();
    bytes.extend_from_slice(&[0xff, 0xfe]);
    bytes.extend_from_slice("\n\n## C ä\nz\n".as_bytes());
    let parsed = parse(&bytes, &place(), &berlin());
    assert_eq!(parsed.broken, Some(Broken::Encoding(5)));
    let subjects: Vec<_> = entries(&parsed).into_iter().map(|e| e.subject).collect();
    assert_eq!(subjects, ["A", "C ä"]);
    assert_eq!(parsed.problems.len(), 1);
}

#[test]
fn keys_are_read_after_a_blank_line_and_lists_are_text() {
    // A formatter leaves this form.
    let parsed = read(
        "## A {#ep_1}\n\n* time: 2023-05-08T14:00\n* session: s1\n* mood: good\n\ntext\n\n<!-- end -->\n## Shopping\n\n- milk: 2 l\n- eggs\n",
    );
    let found = entries(&parsed);
    assert_eq!(
        found[0].session.as_ref().map(model::SessionId::as_str),
        Some("s1")
    );
    assert_eq!(found[0].body, "text");
    assert_eq!(parsed.blocks[0].others, ["* mood: good"]);
    assert_eq!(found[1].body, "- milk: 2 l\n- eggs");
}

#[test]
fn an_empty_key_counts_as_missing() {
    let parsed = read("## A\n- session:\n- valid_until:\n- author: \\u{}\nx\n");
    let found = &entries(&parsed)[0];
    assert_eq!((&found.session, found.valid_until), (&None, None));
    assert_eq!(found.author.as_deref(), Some(""));
}

#[test]
fn a_changed_inline_key_is_read() {
    let mut entry = plain("ep_1", "A", "x");
    entry.session = Some(model::SessionId::new("s1"));
    let text = render(&entry, &berlin()).replace("session=s1", "session=s2");
    let read = entries(&read(&text));
    assert_ne!(crate::digest(&read[0]), crate::digest(&entry));
}

#[test]
fn an_undated_file_has_the_time_of_its_last_save() {
    let mine = Place::of("default/default/users/alice/facts/trips.md").expect("a place");
    let text =
        "\u{feff}## Peanuts\n\nI am allergic to peanuts.\n\n## Oslo\n- time: 2024-02-03\n\nI was there.\n";
    let unknown = parse(text.as_bytes(), &mine, &berlin());
    assert_eq!(entries(&unknown).len(), 1, "nobody knows when");
    let saved = mine.saved_at(1_700_000_000_123_456_789);
    let parsed = parse(text.as_bytes(), &saved, &berlin());
    let found = entries(&parsed);
    assert_eq!(problems(&parsed), [""; 0]);
    assert_eq!(
        found[0].subject, "Peanuts",
        "the mark at the beginning is none of it"
    );
    assert_eq!(found[0].time.millis(), 1_700_000_000_123);
    assert_eq!(found[1].time, berlin().parse("2024-02-03").expect("a time"));
    let gone = [Change::Remove(&found[0].id)];
    let left = change(text.as_bytes(), &parsed, &gone, &berlin()).expect("is there");
    assert_eq!(
        left,
        "\u{feff}## Oslo\n- time: 2024-02-03\n\nI was there.\n".as_bytes()
    );
}

#[test]
fn each_line_of_a_list_is_a_fact() {
    let mine = Place::of("default/default/users/alice/facts/2024-02-03.md").expect("a place");
    let text = "# About me\n\n- I am allergic to nuts.\n* My wife is called Eva.\nA. Berg is my doctor.\n2) I like tea.\n---\n| a | b |\n";
    let parsed = parse(text.as_bytes(), &mine, &berlin());
    let bodies = |parsed: &crate::Parsed| entries(parsed).into_iter().map(|e| e.body).collect::<Vec<_>>();
    let told = [
        "I am allergic to nuts.",
        "My wife is called Eva.",
        "A. Berg is my doctor.",
        "I like tea.",
    ];
    assert_eq!(bodies(&parsed), told);
    assert_eq!(parsed.problems.len(), 1, "a rule and a table are told of");
    let mut entry = entries(&parsed)[1].clone();
    entry.body = "My wife is called Eva Berg.".to_owned();
    let after = change(text.as_bytes(), &parsed, &[Change::Replace(&entry)], &berlin()).expect("is there");
    let again = parse(&after, &mine, &berlin());
    assert_eq!(bodies(&again)[1], "My wife is called Eva Berg.");
    assert_eq!(bodies(&again).len(), 4, "the others stay");
    let gone = change(text.as_bytes(), &parsed, &[Change::Remove(&entry.id)], &berlin()).expect("is there");
    assert_eq!(
        String::from_utf8(gone).expect("text"),
        text.replace("* My wife is called Eva.\n", "")
    );
    let episodes = Place::of("default/default/users/alice/episodes/2024-02-03.md").expect("a place");
    assert!(entries(&parse(text.as_bytes(), &episodes, &berlin())).is_empty());
}

#[test]
fn a_headings_comment_may_be_on_a_later_line() {
    let comment = "<!--ep_1 2023-05-08T14:00:00Z session=s-->";
    let rest = "\n\n**ana** 14:00 I row. <!--_x-->\n\n```\nI smoke.\n```\n\n<!-- end -->\n";
    for head in [
        format!("## Ana rows\n{comment}"),
        format!("## Ana\nrows\n   {comment}"),
        format!("## Ana rows\r\n{comment}"),
        format!("## Ana rows <!--ep_1\n{}", &comment[9..]),
    ] {
        // Code without its end reaches no further than the heading.
        for above in ["", "```\nno end\n"] {
            let parsed = read(&format!("{above}{head}{rest}"));
            let entry = &entries(&parsed)[0];
            assert_eq!(
                (entry.id.as_str(), &*entry.subject),
                ("ep_1", "Ana rows"),
                "{above}{head}"
            );
            assert_eq!(entry.turns.len(), 1, "{above}{head}");
        }
    }
    // A person's comment is none of ours.
    let parsed = read("## Ana rows\nI row. <!-- x -->\n");
    assert_eq!(
        (
            entries(&parsed)[0].subject.as_str(),
            entries(&parsed)[0].body.as_str()
        ),
        ("Ana rows", "I row.")
    );
}
