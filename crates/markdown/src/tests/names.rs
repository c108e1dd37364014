//! Names as folders.

use model::{EntryKind, Name, Owner, Scope};
use proptest::prelude::*;

use super::{berlin, name, plain};
use crate::place::{folder, folder_of};
use crate::{NoPlace, Place, path_of};

#[test]
fn ordinary_names_are_their_own_folders() {
    for text in ["alice", "bob-2", "a.b@example.com", "x+y", "_", "..a..b.x", "-rf"] {
        let expected = text
            .strip_prefix('.')
            .map_or(text.to_owned(), |rest| format!("%2e{rest}"));
        assert_eq!(folder(&name(text)), expected);
    }
}

#[test]
fn characters_that_file_systems_mangle_are_escaped() {
    let cases = [
        ("Alice", "Alice=1"),
        ("ALICE", "ALICE=1f"),
        ("McDonald", "McDonald=5"),
        (".hidden", "%2ehidden"),
        ("dot.", "dot%2e"),
        ("con", "%63on"),
        ("nul.txt", "%6eul.txt"),
        ("LPT1", "%4cPT1=7"),
        ("console", "console"),
    ];
    for (text, expected) in cases {
        assert_eq!(folder(&name(text)), expected);
    }
}

#[test]
fn an_ambiguous_folder_is_refused_with_its_right_name() {
    let path = "default/default/users/Alice/episodes/2023-05-08.md";
    let expected = NoPlace::Misnamed {
        folder: "Alice".to_owned(),
        expected: "Alice=1".to_owned(),
    };
    assert_eq!(Place::of(path), Err(expected));
}

#[test]
fn a_foreign_file_is_no_place() {
    for path in [
        "",
        "/",
        "a.md",
        "README.md",
        "../a/users/b/facts/c.md",
        "/a/b/users/c/facts/d.md",
        "a/b/users/c/facts/../../d.md",
        "a/b/users/c/facts/.d.md",
        "a/b/users/c/facts/d.md~",
        "a/b/users/c/facts/.d.md.swp",
        "a/b/users/c/facts/4913",
        "a/b/users/c/facts/.#d.md",
        "a/b/users/c/facts/#d.md",
        "a/b/users/c/facts/d.txt",
        "a/b/users/c/facts/index.md",
        "a/b/users/c/facts/trips/MEMORY.md",
        "a/b/agents/c/episodes/log.md",
        "a/b/users/c/notes/d.md",
        "a/b/people/c/facts/d.md",
        "a/b/users/../facts/d.md",
        "a/b/users/c/facts//d.md",
        "a\0/b/users/c/facts/d.md",
        "a/b/users/c/facts/d\0.md",
        "a/b/users/c/facts/d\\e.md",
        "a/b/users/c/facts/C:d.md",
        "a/b/users/%/facts/d.md",
        "a/b/users/%zz/facts/d.md",
        "a/b/users/é/facts/d.md",
        "a/b/users/c=g/facts/d.md",
        "a/b/users/%80/facts/d.md",
    ] {
        assert_eq!(Place::of(path), Err(NoPlace::Foreign), "{path}");
    }
}

#[test]
fn people_may_sort_files_into_folders() {
    assert!(Place::of("a/b/users/c/facts/index.md/log/my-index.md").is_ok());
    let place = Place::of("a/b/agents/c/facts/2023/trips/2023-05-08.md").expect("a place");
    assert_eq!(place.kind, EntryKind::Fact);
    assert_eq!(place.owner, Owner::agent(name("c")));
    assert_eq!(place.date, "2023-05-08".parse().ok());
    assert_eq!(
        Place::of("a/b/users/c/facts/trips.md").expect("a place").date,
        None
    );
}

#[test]
fn entries_are_filed_by_their_date_in_the_owners_zone() {
    // 22:30 UTC is the next day in Berlin.
    let mut entry = plain("ep_1", "", "");
    entry.time = berlin().parse("2023-05-08T22:30:00Z").expect("a time");
    assert_eq!(
        path_of(&entry, &berlin()),
        "default/default/users/alice/episodes/2023-05-09.md"
    );
    assert_eq!(
        path_of(&entry, &model::Zone::utc()),
        "default/default/users/alice/episodes/2023-05-08.md"
    );
}

#[test]
fn each_kind_has_a_folder_and_undated_kinds_a_file_of_their_own() {
    let mut entry = plain("x", "Deploy with Docker!", "");
    entry.parent = Some(model::Parent::new(model::ParentKind::Document, "d_1f00c3"));
    let files = model::EntryKind::ALL.map(|kind| {
        entry.kind = kind;
        let path = path_of(&entry, &berlin());
        assert_eq!(Place::of(&path).expect("a place").kind, kind);
        path.strip_prefix("default/default/users/alice/")
            .expect("alice's")
            .to_owned()
    });
    let date = berlin().date(entry.time);
    let dated = |kind: &str| format!("{kind}/{date}.md");
    let expected = [
        dated("episodes"),
        dated("facts"),
        dated("foresights"),
        "profile/profile.md".to_owned(),
        dated("cases"),
        "skills/deploy-with-docker/SKILL.md".to_owned(),
        "topics/d_1f00c3.md".to_owned(),
    ];
    assert_eq!(files, expected);
    entry.subject = "../..".to_owned();
    entry.kind = model::EntryKind::Skill;
    assert!(path_of(&entry, &berlin()).ends_with("/skills/unnamed/SKILL.md"));
}

proptest! {
    #[test]
    fn any_name_is_read_back_from_its_folder(app in "[A-Za-z0-9_.@+-]{1,128}", id in "[a-bA-B.@+-]{1,4}|[cC][oO][nN]") {
        let (Ok(app), Ok(id)) = (Name::parse(&app), Name::parse(&id)) else { return Ok(()); };
        let mut entry = plain("ep_1", "", "");
        entry.scope = Scope::new(app.clone(), id.clone());
        entry.owner = Owner::agent(id.clone());
        let path = path_of(&entry, &berlin());
        let place = Place::of(&path).expect("its own path is a place");
        prop_assert_eq!(&place.scope, &entry.scope);
        prop_assert_eq!(&place.owner, &entry.owner);
        let below = format!("{}/", folder_of(&entry.scope, Some(&entry.owner)));
        prop_assert!(path.starts_with(&below));
        prop_assert!(folder(&app).len() <= 255 && !folder(&id).starts_with('.'));
    }

    #[test]
    fn no_two_names_share_a_folder_on_a_file_system_without_case(one in "[aAbB.%con=]{1,5}", other in "[aAbB.con]{1,5}") {
        let (Ok(one), Ok(other)) = (Name::parse(&one), Name::parse(&other)) else { return Ok(()); };
        let same = folder(&one).eq_ignore_ascii_case(&folder(&other));
        prop_assert_eq!(same, one == other);
    }
}

#[test]
fn a_named_ledger_writes_to_files_of_its_own_with_the_same_date() {
    use crate::place::{is_ledger_path, ledger_path};
    let of = |kind, file: &str| ledger_path(&format!("a/b/users/ann/{file}"), kind, "k3f9");
    let fact = of(EntryKind::Fact, "facts/2026-11-27.md");
    assert_eq!(fact, "a/b/users/ann/facts/2026-11-27.k3f9.md");
    let skill = of(EntryKind::Skill, "skills/deploy/SKILL.md");
    assert_eq!(skill, "a/b/users/ann/skills/deploy.k3f9/SKILL.md");
    let topic = of(EntryKind::Topic, "topics/d_1f00c3.md");
    assert_eq!(topic, "a/b/users/ann/topics/d_1f00c3.md");
    assert!(
        is_ledger_path(&fact, "k3f9") && is_ledger_path(&skill, "k3f9") && !is_ledger_path(&topic, "k3f9")
    );
    assert!(!is_ledger_path(&fact, "3f9") && !is_ledger_path("a/b/users/ann/facts/2026-11-27.md", "k3f9"));
    let place = Place::of(&fact).expect("a place");
    assert_eq!(place.date, "2026-11-27".parse().ok());
    assert_eq!(Place::of(&skill).expect("a place").kind, EntryKind::Skill);
}
