//! A skill's file: any agent reads it, and a person's text stays.

use model::{Entry, EntryId, EntryKind, SkillStatus};
use proptest::prelude::*;

use super::{berlin, entries, hostile, plain, problems};
use crate::{Broken, Change, NoPlace, Parsed, Place, change, digest, parse, path_of, plan, render};

const PATH: &str = "default/default/users/alice/skills/deploy/SKILL.md";

fn read(text: &str) -> Parsed {
    parse(text.as_bytes(), &Place::of(PATH).expect("a place"), &berlin())
}

/// Any entry as a skill: it has a status and no turns.
fn skill() -> BoxedStrategy<Entry> {
    let status = prop::sample::select(vec!["draft", "approved", "rejected"]);
    (hostile::entry(), status)
        .prop_map(|(mut entry, status)| {
            entry.kind = EntryKind::Skill;
            entry.labels.insert(0, status.to_owned());
            entry.turns.clear();
            entry
        })
        .boxed()
}

fn deploy() -> Entry {
    let mut entry = plain(
        "sk_1",
        "deploy",
        "# Deploy\n\n## Steps\n\n1. `run` on `deploy --env staging`",
    );
    entry.kind = EntryKind::Skill;
    entry.summary = "Deploy a service: use it before a release.".to_owned();
    entry.labels = vec!["draft".to_owned()];
    entry.sources = vec![model::MessageId::new("ac_1"), model::MessageId::new("ac_2")];
    entry.confidence_percent = Some(70);
    entry
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_skill_is_read_back(entry in skill(), zone in hostile::zone(), windows in any::<bool>()) {
        let mut text = render(&entry, &zone);
        if windows {
            text = text.replace('\n', "\r\n");
        }
        let parsed = read(&text);
        prop_assert_eq!(&parsed.problems, &[]);
        prop_assert_eq!(&parsed.broken, &None);
        prop_assert_eq!(entries(&parsed).first().map(digest), Some(digest(&entry)));
        prop_assert_eq!(&entries(&parsed), &[entry]);
    }

    #[test]
    fn an_edit_keeps_a_persons_keys(entry in skill(), new in skill()) {
        let new = Entry { id: entry.id.clone(), ..new };
        let own = "license: MIT # ours\n# a note\nmetadata:\n  team: [a, b]\n  text: |\n    ## no heading\n";
        let text = render(&entry, &berlin()).replacen("---\n", &format!("---\n{own}"), 1);
        let changed = change(text.as_bytes(), &read(&text), &[Change::Replace(&new)], &berlin()).expect("is there");
        let changed = String::from_utf8(changed).expect("text");
        prop_assert!(changed.contains(own), "{}", changed);
        prop_assert_eq!(&entries(&read(&changed)), &[new]);
    }

    #[test]
    fn any_bytes_of_a_skill_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), front in hostile::text(), body in hostile::text()) {
        for text in [bytes, format!("---\n{front}\n---\n{body}").into_bytes()] {
            let parsed = parse(&text, &Place::of(PATH).expect("a place"), &berlin());
            prop_assert!(parsed.blocks.len() <= 1);
        }
    }
}

#[test]
fn other_agents_find_name_and_description() {
    let text = render(&deploy(), &berlin());
    let expected = "---\nname: deploy\ndescription: \"Deploy a service: use it before a release.\"\nquipu: 2\nid: sk_1\n\
                    status: draft\nconfidence: 70\ncases: [\"ac_1\", \"ac_2\"]\nupdated: \"2023-05-08T14:00:00+02:00\"\n\
                    origin: user\n---\n\n# Deploy\n\n## Steps\n\n1. `run` on `deploy --env staging`\n";
    assert_eq!(text.replace("[ac_1, ac_2]", "[\"ac_1\", \"ac_2\"]"), expected);
    assert!(
        text.ends_with(&format!("\n\n{}\n", deploy().body)),
        "a body is not escaped: {text}"
    );
}

#[test]
fn a_skill_from_elsewhere_is_a_draft_of_its_folders_owner() {
    let text = "---\nname: pdf\ndescription: >\n  Read PDF files.\n  Fill forms.\nallowed-tools: Bash\n---\n\n# PDF\n\nUse `pdftotext`.\n";
    let entry = entries(&read(text)).remove(0);
    assert_eq!(
        (entry.subject.as_str(), entry.summary.as_str()),
        ("pdf", "Read PDF files. Fill forms.")
    );
    assert_eq!(entry.body, "# PDF\n\nUse `pdftotext`.");
    assert_eq!(SkillStatus::of(&entry.labels), SkillStatus::Draft);
    assert!(entry.id.as_str().starts_with("sk_hand_"));
    let nameless = entries(&read("---\ndescription: x\nstatus: approved\n---\n")).remove(0);
    assert_eq!((nameless.subject.as_str(), nameless.id), ("deploy", entry.id));
    assert_eq!(SkillStatus::of(&nameless.labels), SkillStatus::Approved);
}

#[test]
fn an_unreadable_skill_is_reported_and_never_approved() {
    for (text, why) in [
        ("# Deploy\n", Broken::NoFront),
        ("---\nname: deploy\n# Deploy\n", Broken::Unclosed),
        (
            "---\nquipu: 3\nname: deploy\n---\n",
            Broken::Version("3".to_owned()),
        ),
    ] {
        let parsed = read(text);
        assert_eq!(
            (parsed.broken.clone(), parsed.blocks.len()),
            (Some(why), 0),
            "{text}"
        );
    }
    for text in [
        "---\nname: [\n---\n",
        "---\n{name: x, status: approved}\n---\n",
        "---\n? name\n: x\n---\n",
    ] {
        let parsed = read(text);
        assert!(
            matches!(parsed.broken, Some(Broken::Yaml(_))) && parsed.blocks.is_empty(),
            "{text}"
        );
    }
    for (line, reason) in [
        (
            "status: yes",
            "3: `yes` is not a value for `status`: use draft, approved or rejected",
        ),
        (
            "status: true",
            "3: `true` is not a value for `status`: use draft, approved or rejected",
        ),
        (
            "confidence: 101",
            "3: `101` is not a value for `confidence`: use a share from 0 to 100",
        ),
        ("cases: {a: b}", "3: `cases` must be a list of texts"),
        ("description: [a]", "3: `description` must be one text"),
    ] {
        let parsed = read(&format!("---\nname: deploy\n{line}\n---\n"));
        assert_eq!(
            (problems(&parsed), entries(&parsed)),
            (vec![reason.to_owned()], vec![])
        );
    }
}

#[test]
fn a_file_holds_one_skill() {
    let text = render(&deploy(), &berlin());
    let planned = |bytes: &[u8], entry: &Entry| {
        let parsed = parse(bytes, &Place::of(PATH).expect("a place"), &berlin());
        plan(bytes, &parsed, std::slice::from_ref(entry), &berlin())
    };
    let plan = planned(b"", &deploy()).expect("there is room");
    assert_eq!((plan.cut, &plan.text), (None, &text));
    let edited = text.replace("# Deploy", "# Mine");
    for there in [&text, &edited] {
        assert_eq!(
            planned(there.as_bytes(), &deploy()).map(|plan| plan.text),
            Ok(String::new())
        );
    }
    let other = Entry {
        id: EntryId::new("sk_2"),
        ..deploy()
    };
    assert_eq!(planned(text.as_bytes(), &other), Err(Broken::Taken));
    assert_eq!(planned(b"---\nname: mine\n---\n", &other), Err(Broken::Taken));
    assert_eq!(planned(b"mine", &other), Err(Broken::NoFront));
    let gone = change(
        text.as_bytes(),
        &read(&text),
        &[Change::Remove(&deploy().id)],
        &berlin(),
    );
    assert_eq!(gone, Ok(Vec::new()));
}

#[test]
fn other_files_next_to_a_skill_are_no_memory() {
    assert_eq!(path_of(&deploy(), &berlin()), PATH);
    for beside in [
        "skills/deploy/references/api.md",
        "skills/deploy/README.md",
        "skills/notes.md",
    ] {
        let path = format!("default/default/agents/coder/{beside}");
        assert_eq!(Place::of(&path), Err(NoPlace::Foreign), "{path}");
    }
    assert!(Place::of("default/default/agents/coder/skills/mine/deploy/SKILL.md").is_ok());
}
