//! Which lines of a file of facts are facts.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{berlin, entries, hostile};
use crate::{Change, Parsed, Place, change, parse, plan};

pub(super) fn facts() -> Place {
    Place::of("default/default/users/alice/facts/2023-05-08.md").expect("a place")
}

pub(super) fn read(text: &str) -> Parsed {
    parse(text.as_bytes(), &facts(), &berlin())
}

pub(super) fn bodies(parsed: &Parsed) -> Vec<String> {
    entries(parsed).into_iter().map(|entry| entry.body).collect()
}

/// The expected result of a part of a page.
#[derive(Debug, Clone)]
enum Expected {
    Facts(Vec<String>),
    /// No entry, but a report.
    Other,
    /// Hidden on the page, or without a text of its own.
    Nothing,
}

/// Words without markup, of several scripts.
fn plain_words() -> BoxedStrategy<String> {
    let word = select(vec![
        "tea", "I", "drink", "Zug", "猫は好き", "чай", "قهوة", "7", "é", "(so)", "„ja“", "€40", "🥁",
    ]);
    vec(word, 1..6)
        .prop_map(|words| format!("now {}.", words.join(" ")))
        .boxed()
}

/// A part of a page, and its expected result.
fn part() -> BoxedStrategy<(String, Expected)> {
    let marks = vec!["- ", "* ", "+ ", "1. ", "100. ", "2) ", "- [x] ", "", "  "];
    let dress = vec![
        ("", ""),
        ("**", "**"),
        ("[[", "]] is it"),
        ("[", "](a.md) is it"),
        ("#tag ", ""),
        ("«", "»"),
        ("`", "` is it"),
    ];
    let fact = (select(marks), select(dress), plain_words()).prop_map(|(mark, (open, close), words)| {
        let text = format!("{open}{words}{close}");
        (format!("{mark}{text}"), Expected::Facts(vec![text]))
    });
    let wrapped = (plain_words(), plain_words()).prop_map(|(one, two)| {
        (
            format!("- {one}\n  {two}"),
            Expected::Facts(vec![format!("{one} {two}")]),
        )
    });
    let hidden = select(vec![
        ("<!-- ", " -->"),
        ("<!--\n- ", "\n-->"),
        ("%% ", " %%"),
        ("%%\n", "\n\n%%"),
        ("# ", ""),
        ("### ", ""),
        ("<!--\n## Old\n\n", "\n-->"),
    ]);
    let hidden = (hidden, plain_words())
        .prop_map(|((open, close), words)| (format!("{open}{words}{close}"), Expected::Nothing));
    let behind = (
        plain_words(),
        select(vec![("<!-- ", " -->"), ("%%", "%%"), ("<!-- ", "\n  still -->")]),
        plain_words(),
    )
        .prop_map(|(shown, (open, close), words)| {
            (
                format!("- {shown} {open}{words}{close}"),
                Expected::Facts(vec![shown]),
            )
        });
    let other = select(vec![
        ("```sh\n", "\n\nrm x\n```"),
        ("~~~\n", "\n## no entry\n~~~"),
        ("$$\n", "\n$$"),
        ("+++\nkey = '", "'\n+++"),
        ("<div hidden>\n- ", "\n</div>"),
        ("| ", " |\n|---|\n| b |"),
        ("a | b\n--|--\n", "|c"),
        ("> ", "\nlazy"),
        ("    ", ""),
        ("![", "](a.png)"),
        ("![[", "]]"),
        ("- ~~", "~~"),
        ("- [ ] ", ""),
        ("- [/] ", "\n  more"),
        ("---\nkey: ", "\n---"),
        ("- > ", ""),
        ("- time: ", ""),
        ("<div title='", "'>"),
        ("[//]: # (", ")"),
        ("[a]: b '", "'"),
    ]);
    let other = (other, plain_words())
        .prop_map(|((open, close), words)| (format!("{open}{words}{close}"), Expected::Other));
    let rule = select(vec!["***", "_ _ _", "- "]).prop_map(|rule| (rule.to_owned(), Expected::Nothing));
    prop_oneof![4 => fact, 2 => wrapped, 2 => hidden, 2 => behind, 4 => other, 1 => rule].boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_visible_line_is_read_or_reported(parts in vec(part(), 1..8)) {
        let (mut text, mut told, mut reported) = (String::new(), Vec::new(), Vec::new());
        for (part, is) in &parts {
            // A file may begin with anything except what would be its front matter; a paragraph
            // ends a list.
            if text.is_empty() && part.starts_with("---") || part.starts_with("    ") {
                text.push_str("before\n\n");
                told.push("before".to_owned());
            }
            match is {
                Expected::Facts(facts) => told.extend(facts.clone()),
                Expected::Other => reported.push(text.matches('\n').count() + 1),
                Expected::Nothing => {}
            }
            text.push_str(part);
            text.push_str("\n\n");
        }
        // Two spaces continue a list above.
        prop_assume!(!parts.windows(2).any(|pair| pair[1].0.starts_with("  ") && !pair[1].0.starts_with("    ")));
        let parsed = read(&text);
        prop_assert_eq!(bodies(&parsed), told, "{}", text);
        let lines: Vec<usize> = parsed.problems.iter().map(|problem| problem.line).collect();
        prop_assert_eq!(lines, reported, "{}\n{:?}", text, parsed.problems);
        prop_assert_eq!(parsed.broken, None);
    }

    #[test]
    fn facts_are_found_below_any_text(text in vec(hostile::text(), 0..6), all in hostile::entries(), bytes in vec(any::<u8>(), 0..9)) {
        let text = text.join("\n");
        let (place, zone) = (facts(), berlin());
        let all: Vec<_> = all.into_iter().map(|entry| model::Entry { kind: model::EntryKind::Fact, ..entry }).collect();
        let mut whole = text.into_bytes();
        let before = parse(&whole, &place, &zone);
        prop_assume!(before.unwritable().is_none());
        let taken = before.ids();
        let expected: Vec<_> = all.iter().filter(|entry| !taken.contains(&entry.id)).cloned().collect();
        let plan = plan(&whole, &before, &all, &zone).expect("there is room");
        whole.truncate(plan.cut.map_or(whole.len(), |cut| cut.at));
        whole.extend_from_slice(plan.text.as_bytes());
        let after = entries(&parse(&whole, &place, &zone));
        prop_assert!(after.ends_with(&expected), "{}", String::from_utf8_lossy(&whole));
        whole.extend_from_slice(&bytes);
        let parsed = parse(&whole, &place, &zone);
        prop_assert!(parsed.blocks.iter().all(|block| block.span.start < block.span.end && block.span.end <= whole.len()));
    }
}

#[test]
fn unreadable_lines_are_reported_from_the_first_line_on() {
    let parsed = read("> I hate olives, they say.\n- I like tea.\n- [ ] buy oars\n```\nI sail.\n");
    assert_eq!(bodies(&parsed), ["I like tea."]);
    let problems: Vec<_> = super::problems(&parsed);
    expect_test::expect![[r"
        1: a quotation is not read as a fact: write the fact as `- I like tea`, or write a heading `## …` above
        3: an open task is not read as a fact: write the fact as `- I like tea`, or write a heading `## …` above
        4: code is not read as a fact: write the fact as `- I like tea`, or write a heading `## …` above"]]
    .assert_eq(&problems.join("\n"));
}

#[test]
fn a_title_in_any_form_is_no_fact() {
    let parsed =
        read("About me\n========\n\n- I row.\n  - I have a boat.\n\n### Boats\nMine is green.\n---\n");
    assert_eq!(bodies(&parsed), ["I row.", "I have a boat.", "Mine is green."]);
    assert_eq!(parsed.problems, []);
}

#[test]
fn a_formatter_may_wrap_every_line() {
    let own = "- I have worked at the harbour office for\n  fifteen years. <!--af_1 2026-09-21T14:13:20+02:00\n  session=s1-->\n";
    let text = format!("- I have a boat which is\n  green.\n{own}- By hand\n  too.\n");
    let parsed = read(&text);
    assert_eq!(parsed.problems, []);
    let told = [
        "I have a boat which is green.",
        "I have worked at the harbour office for fifteen years.",
        "By hand too.",
    ];
    assert_eq!(bodies(&parsed), told);
    let id = model::EntryId::new("af_1");
    assert_eq!(
        (&parsed.blocks[1].id, &text[parsed.blocks[1].span.clone()]),
        (&id, own)
    );
    let session = parsed.blocks[1]
        .entry
        .as_ref()
        .and_then(|entry| entry.session.clone());
    assert_eq!(session, Some(model::SessionId::new("s1")));
    let gone = [Change::Remove(&parsed.blocks[0].id), Change::Remove(&id)];
    let left = change(text.as_bytes(), &parsed, &gone, &berlin()).expect("is there");
    assert_eq!(String::from_utf8_lossy(&left), "- By hand\n  too.\n");
    // The same holds below an entry by hand.
    let below = super::read(&format!("## Work\nSee below.\n\n{own}"));
    assert_eq!(bodies(&below), ["See below.", told[1]]);
}

#[test]
fn damage_on_one_line_hides_no_fact_on_another() {
    let own = "- I swim. <!--af_1 2023-05-08T14:00:00Z-->\n";
    let mut bytes = format!("---\nquipu: 2\n\n- I row.\n- I am ?.\n{own}").into_bytes();
    let at = bytes.iter().position(|byte| *byte == b'?').expect("is there");
    bytes[at] = 0xff;
    let parsed = parse(&bytes, &facts(), &berlin());
    assert_eq!(bodies(&parsed), ["I row.", "I swim."]);
    assert_eq!(parsed.broken, Some(crate::Broken::Unclosed));
    assert_eq!(parsed.problems.len(), 1);
    assert!(parsed.problems[0].reason.starts_with("text that is not UTF-8"));
    assert_eq!(bodies(&read(&format!("---\nquipu: 2\n{own}"))), ["I swim."]);
}

const OWN: &str = "<!--af_1 2026-02-01T22:53:20Z session=s1 valid_until=2026-03-01T00:00:00Z-->";

#[test]
fn an_entry_keeps_its_id_under_any_mark_and_at_any_depth() {
    let marks = [
        "- ", "* ", "+ ", "1. ", "2) ", "-\t", "-   ", " - ", "  - ", "   * ", "\t- ",
    ];
    for mark in marks {
        let inner = " ".repeat(super::super::facts::columns(mark) + mark.trim().len() + 1);
        let whole = format!("{mark}Ana lives in Aa. {OWN}\n");
        let wrapped = format!(
            "{mark}Ana lives\n{inner}in Aa.\n{inner}{}\n",
            OWN.replace(" session", &format!("\n{inner}session"))
        );
        let lazy = format!("{mark}Ana lives\nin Aa. {OWN}\n");
        for own in [whole, wrapped, lazy] {
            let text = format!("- I row.\n{own}");
            let parsed = read(&text);
            assert_eq!(bodies(&parsed), ["I row.", "Ana lives in Aa."], "{text:?}");
            assert_eq!(parsed.problems, [], "{text:?}");
            let entry = &entries(&parsed)[1];
            assert_eq!((entry.id.as_str(), entry.valid_until.is_some()), ("af_1", true));
            let other = model::Entry {
                body: "I sail.".to_owned(),
                ..entries(&parsed)[0].clone()
            };
            let edited = change(text.as_bytes(), &parsed, &[Change::Replace(&other)], &berlin());
            let edited = String::from_utf8(edited.expect("is there")).expect("text");
            assert!(edited.ends_with(&own), "{edited:?}");
        }
    }
}

#[test]
fn a_number_within_an_item_begins_no_other_item() {
    let text = format!("- Ana has lived in Aa since\n  1990. {OWN}\n- Row\n  1. often. {OWN}\n");
    let parsed = read(&text);
    assert_eq!(parsed.blocks[0].id.as_str(), "af_1");
    assert_eq!(bodies(&parsed), ["Ana has lived in Aa since 1990.", "Row"]);
}

#[test]
fn text_between_tags_is_no_fact_even_after_blank_lines() {
    for (open, close) in [
        ("<div hidden>", "</div>"),
        ("<details><summary>More</summary>", "</details>"),
        ("<DIV\n  hidden>", "</div>"),
        ("<div>\n\n<div>\n\n- I dive.\n\n</div>", "</div>"),
        ("<div hidden>I dive.", "</div>"),
        ("- <details>", "  </details>"),
    ] {
        let text =
            format!("- I row.\n{open}\n\n- I smoke.\n\nI snore. <!-- I hide. -->\n\n{close}\n- I sail.\n");
        let parsed = read(&text);
        assert_eq!(bodies(&parsed), ["I row.", "I sail."], "{text}");
        assert_eq!((parsed.problems.len(), parsed.problems[0].line), (1, 2), "{text}");
        let own = format!("{open}\n\n- Ana lives\n  in Aa. {OWN}\n\n## By hand\n\nx\n\n{close}\n");
        let told = bodies(&read(&own));
        assert!(told.contains(&"Ana lives in Aa.".to_owned()), "{own}");
        assert!(told.iter().any(|body| body.starts_with('x')), "{own}");
    }
    for hidden in ["<![CDATA[\n- I smoke.\n]]>", "<![CDATA[\n\nI smoke.\n\n]]>"] {
        assert_eq!(
            bodies(&read(&format!("- I row.\n\n{hidden}\n- I sail.\n"))),
            ["I row.", "I sail."]
        );
    }
    let shown = "I <b>row</b>.\n<b>Boats\nare</b> mine.\n\n<3 boats.\n\n</3 no boats.\n<br>\n\nI sail.\n";
    let told = [
        "I <b>row</b>.",
        "<b>Boats",
        "are</b> mine.",
        "<3 boats.",
        "</3 no boats.",
        "I sail.",
    ];
    assert_eq!(bodies(&read(shown)), told);
}

#[test]
fn a_comment_between_tags_is_hidden_in_an_entry_by_hand() {
    let parsed = super::read("## Dog\n\n<details>\n\nBodo barks. <!-- I hide. -->\n\n</details>\n");
    assert_eq!(bodies(&parsed), ["<details>\n\nBodo barks.\n\n</details>"]);
}

#[test]
fn a_link_target_may_have_several_lines_and_be_in_an_item() {
    for target in [
        "[//]: #\n  (I smoke.)",
        "[//]: # (I\nsmoke\n  a lot.)",
        "[a]: b\n\"I smoke.\"",
    ] {
        let parsed = read(&format!("- I row.\n\n{target}\nI sail.\n"));
        assert_eq!(bodies(&parsed), ["I row.", "I sail."], "{target}");
        assert_eq!(parsed.problems.len(), 1, "{target}");
    }
    let parsed = read("- I row.\n\n  [_]: # (I smoke.)\n  Fast.\n- I sail\n  [so]: yes.\n");
    assert_eq!(bodies(&parsed), ["I row. Fast.", "I sail [so]: yes."]);
    assert_eq!(parsed.problems.len(), 1);
}

#[test]
fn front_matter_below_a_title_or_a_comment_and_a_picture_are_no_facts() {
    for above in ["# T\n", "<!-- x -->\n", "```\nx\n```\n", "***\n"] {
        let parsed = read(&format!("{above}---\na: b\n---\n- I row.\n"));
        assert_eq!(bodies(&parsed), ["I row."], "{above}");
    }
    assert_eq!(bodies(&read("I row.\n---\na: b\n---\n")), ["I row.", "a: b"]);
    assert_eq!(bodies(&read("- [![x](a.png)](b)\n- I row.\n")), ["I row."]);
}
