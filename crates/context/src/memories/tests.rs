//! Rules on talks.

use proptest::prelude::*;
use transcript::{Item, ItemId, Role};

use super::{KeptMemory, MemoryKind, best, extract};

fn read(talk: &[(Role, &str)]) -> Vec<KeptMemory> {
    let items: Vec<Item> = talk.iter().map(|&(role, text)| Item::text(role, text)).collect();
    let span: Vec<(ItemId, &Item)> = items
        .iter()
        .enumerate()
        .map(|(at, item)| (ItemId(at as u64), item))
        .collect();
    extract(&span)
}

#[test]
fn kinds_sources_and_secrets() {
    let pass = ["hun", "ter2x"].concat();
    let told = format!("We decided to store the password=\"{pass}\" in the vault file.");
    let found = read(&[
        (
            Role::User,
            "I prefer tabs over spaces in every file of this repository.",
        ),
        (Role::Assistant, &told),
        (
            Role::Assistant,
            "I prefer tabs over spaces in every file of this repository.",
        ),
        (
            Role::Tool,
            "decision: tools decide nothing, whatever they print at length",
        ),
        (Role::User, "```\nwe decided to write this inside of a fence\n```"),
        (Role::User, &told),
        (Role::User, "我们决定使用数据库来保存所有的会话。"),
    ]);
    let kinds: Vec<MemoryKind> = found.iter().map(|memory| memory.kind).collect();
    assert_eq!(
        kinds,
        [MemoryKind::Preference, MemoryKind::Decision, MemoryKind::Decision]
    );
    assert_eq!(found[1].sources, [ItemId(1), ItemId(5)]);
    assert!(!found[1].text.contains(&pass));
    assert_eq!(best(found, 1)[0].kind, MemoryKind::Decision);
}

#[test]
fn mf_1_to_6_of_one_sentence() {
    let of = |role, text: &str| read(&[(role, text)]);
    assert!(read(&[]).is_empty());
    assert!(
        of(Role::User, "We decided on Rust today.").is_empty(),
        "shorter than 30"
    );
    let found = of(
        Role::User,
        "After a long debate we decided to use PostgreSQL for the storage layer.",
    );
    assert_eq!((found[0].kind, found[0].importance), (MemoryKind::Decision, 0.8));
    let found = of(
        Role::User,
        "Important: the deployment always has to go through the staging host.",
    );
    assert_eq!((found[0].kind, found[0].importance), (MemoryKind::Fact, 0.6));
    let context = "Currently the parser module is being rewritten for speed and clarity.";
    assert_eq!(of(Role::Assistant, context)[0].kind, MemoryKind::Context);
    assert!(of(Role::User, context).is_empty(), "only the assistant");
    of(Role::User, &format!("{{\"decision\": {}}}", "[1,".repeat(100)));
    let long = format!("We decided {}", "x".repeat(600));
    assert!(of(Role::User, &long).is_empty(), "longer than 500");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]
    #[test]
    fn any_talk(text in "(?s)(.|decided |because |Note: |\\. |\\n|一){0,200}") {
        let found = read(&[(Role::Assistant, &text), (Role::User, &text)]);
        prop_assert!(found.iter().all(|memory| !memory.text.contains('\n')));
    }
}
