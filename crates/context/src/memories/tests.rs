//! Our rules; code-buddy's are in the conformance tests.

use proptest::prelude::*;
use transcript::{Item, ItemId, Role};

use super::{KeptMemory, MemoryKind, MemoryRules, best, extract};

fn read(talk: &[(Role, &str)], rules: MemoryRules) -> Vec<KeptMemory> {
    let items: Vec<Item> = talk.iter().map(|&(role, text)| Item::text(role, text)).collect();
    let span: Vec<(ItemId, &Item)> = items
        .iter()
        .enumerate()
        .map(|(at, item)| (ItemId(at as u64), item))
        .collect();
    extract(&span, rules)
}

#[test]
fn kinds_sources_and_secrets() {
    let pass = ["hun", "ter2x"].concat();
    let told = format!("We decided to store the password=\"{pass}\" in the vault file.");
    let found = read(
        &[
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
        ],
        MemoryRules::Quipu,
    );
    let kinds: Vec<MemoryKind> = found.iter().map(|memory| memory.kind).collect();
    assert_eq!(
        kinds,
        [MemoryKind::Preference, MemoryKind::Decision, MemoryKind::Decision]
    );
    assert_eq!(found[1].sources, [ItemId(1), ItemId(5)]);
    assert!(!found[1].text.contains(&pass));
    assert_eq!(best(found, 1)[0].kind, MemoryKind::Decision);
}

/// MF-1 to MF-6.
#[test]
fn codebuddy() {
    let old = |role, text: &str| read(&[(role, text)], MemoryRules::Codebuddy);
    assert!(read(&[], MemoryRules::Codebuddy).is_empty());
    assert!(
        old(Role::User, "We decided on Rust for it now.").is_empty(),
        "shorter than 50"
    );
    let found = old(
        Role::User,
        "After a long debate we decided to use PostgreSQL for the storage layer.",
    );
    assert_eq!((found[0].kind, found[0].importance), (MemoryKind::Decision, 0.8));
    assert_eq!(found[0].tags, ["auto-extracted", "compaction"]);
    let found = old(
        Role::User,
        "Important: the deployment always has to go through the staging host.",
    );
    assert_eq!((found[0].kind, found[0].importance), (MemoryKind::Fact, 0.6));
    let context = "Currently the parser module is being rewritten for speed and clarity.";
    assert_eq!(old(Role::Assistant, context)[0].kind, MemoryKind::Context);
    assert!(old(Role::User, context).is_empty(), "only the assistant");
    old(Role::User, &format!("{{\"decision\": {}}}", "[1,".repeat(100)));
    let long = format!("We decided {}", "x".repeat(600));
    assert!(old(Role::User, &long).is_empty(), "longer than 500");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]
    #[test]
    fn any_talk(text in "(?s)(.|decided |because |Note: |\\. |\\n|一){0,200}") {
        for rules in [MemoryRules::Quipu, MemoryRules::Codebuddy] {
            let found = read(&[(Role::Assistant, &text), (Role::User, &text)], rules);
            prop_assert!(found.iter().all(|memory| !memory.text.contains('\n')));
        }
    }
}
