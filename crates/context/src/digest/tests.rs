//! Digests of whole stretches: items in, text out.

use crate::tokens::Meter;
use proptest::prelude::*;
use transcript::{Block, Call, Item, ItemId, Outcome, Role};

use super::*;

fn user(text: &str) -> Item {
    Item::text(Role::User, text)
}

fn assistant(text: &str) -> Item {
    Item::text(Role::Assistant, text)
}

fn call(id: &str, name: &str, arguments: &str) -> Item {
    let call = Call {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    };
    Item {
        role: Role::Assistant,
        blocks: vec![Block::Call(call)],
        raw: None,
        edited: false,
    }
}

fn result(id: &str, text: &str, failed: bool) -> Item {
    let outcome = Outcome {
        call_id: id.into(),
        text: text.into(),
        failed,
        images: 0,
    };
    Item {
        role: Role::Tool,
        blocks: vec![Block::Outcome(outcome)],
        raw: None,
        edited: false,
    }
}

fn digest_from(first: u64, items: &[Item]) -> Digest {
    let items: Vec<(ItemId, &Item)> = (first..).map(ItemId).zip(items).collect();
    read(&items)
}

fn digest(items: &[Item]) -> Digest {
    digest_from(0, items)
}

fn of(digest: &Digest, kind: LineKind) -> Vec<&str> {
    digest
        .lines
        .iter()
        .filter(|line| line.kind == kind)
        .map(|line| line.text.as_str())
        .collect()
}

fn session() -> Vec<Item> {
    vec![
        user(
            "Please add a retry queue to the billing service. Never touch the files under legacy/. Wir nehmen dafür Redis.",
        ),
        assistant("Shall I keep the old endpoint?"),
        user("Yes, until March"),
        call("a", "Write", r#"{"file_path":"src/queue.rs","content":"x"}"#),
        result("a", "File created successfully at: src/queue.rs", false),
        call("b", "Bash", r#"{"command":"cargo test -p billing"}"#),
        result(
            "b",
            "Compiling\nerror[E0308]: mismatched types\n --> src/queue.rs:14:9\nExit code: 101",
            true,
        ),
        call(
            "c",
            "Edit",
            r#"{"file_path":"src/queue.rs","old_string":"a","new_string":"b"}"#,
        ),
        result("c", "ok", false),
        call("d", "Bash", r#"{"command":"cargo test -p billing"}"#),
        result("d", "test result: ok. 12 passed; 0 failed", false),
        call(
            "e",
            "TodoWrite",
            r#"{"todos":[{"content":"write the queue","status":"completed"},{"content":"document the queue","status":"pending"}]}"#,
        ),
        assistant(
            "The worker polls http://queue.internal:9000/jobs every 250 ms. 重试间隔由调度服务统一控制。",
        ),
    ]
}

fn rules_of(item: &Item) -> Vec<String> {
    let digest = digest(std::slice::from_ref(item));
    of(&digest, LineKind::Constraint)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_session() {
    expect_test::expect![[r"
        ## Objective
        - Please add a retry queue to the billing service. Never touch the files under legacy/. Wir nehmen dafür Redis.
        ## Constraints
        - Never touch the files under legacy/.
        ## Decisions
        - Wir nehmen dafür Redis.
        - Shall I keep the old endpoint?
        - Yes, until March
        ## Open
        - document the queue
        ## Done
        - write the queue
        ## Files
        - created src/queue.rs
        ## Commands
        - ok: cargo test -p billing
        ## Errors
        - error[E0308]: mismatched types
        ## Details
        - File created successfully at: src/queue.rs
        - --> src/queue.rs:14:9
        - The worker polls http://queue.internal:9000/jobs every 250 ms.
        ## Excerpts
        - 重试间隔由调度服务统一控制。
    "]]
    .assert_eq(&digest(&session()).to_text());
}

#[test]
fn rules_come_from_own_words_only() {
    let rule = "never delete the bucket";
    for text in [
        format!("```\n{rule}\n```"),
        format!("> {rule}"),
        format!("The page says \"Obey. {rule}. Thanks.\" and so on."),
        format!("<document>\n{rule}\n</document>"),
        format!("2024-01-02 10:00:00 WARN {rule}"),
        format!("Should we {rule}?"),
    ] {
        assert!(rules_of(&user(&text)).is_empty(), "{text}");
    }
    assert!(rules_of(&assistant(rule)).is_empty());
    let mut mixed = result("x", rule, false);
    mixed.role = Role::User;
    assert!(rules_of(&mixed).is_empty() && of(&digest(&[mixed]), LineKind::Constraint).is_empty());
    let item = user("Hi.\n- Never   delete the *bucket*: it's `prod`.\nThanks");
    assert_eq!(rules_of(&item), ["Never   delete the *bucket*: it's `prod`."]);
    let long = format!(
        "{}, you must always answer in Welsh, {}",
        "word ".repeat(90),
        "word ".repeat(90)
    );
    let rules = rules_of(&user(&long));
    assert!(
        rules.len() == 1 && rules[0].contains("always answer in Welsh") && rules[0].len() <= 400,
        "{rules:?}"
    );
}

#[test]
fn files_end_in_their_latest_state() {
    let shell = |command: &str| call("", "bash", &format!(r#"{{"command":"{command}"}}"#));
    let older = digest(&[
        shell("cat a.txt b.txt"),
        shell("touch c.txt"),
        shell("mv b.txt d.txt"),
    ]);
    let newer = digest_from(
        3,
        &[
            shell("rm c.txt"),
            shell("echo x > a.txt"),
            shell("sed -i s/a/b/ d.txt"),
            shell("cat d.txt"),
        ],
    );
    let both = older.followed_by(newer);
    assert_eq!(
        of(&both, LineKind::File),
        ["renamed d.txt (was b.txt)", "deleted c.txt", "modified a.txt"]
    );
    let failed = [
        call("x", "Edit", r#"{"file_path":"z.rs"}"#),
        result("x", "String not found", true),
    ];
    assert!(of(&digest(&failed), LineKind::File).is_empty());
}

#[test]
fn a_todo_is_removed_when_it_is_done() {
    let older = digest(&[
        user("- [ ] migrate the users table\n- [ ] write the changelog"),
        assistant("We still need to rotate the signing keys."),
    ]);
    assert_eq!(of(&older, LineKind::Todo).len(), 3);
    let newer = digest_from(
        2,
        &[
            assistant("- [x] migrate the users table"),
            assistant("The signing keys are now rotated, that is done."),
        ],
    );
    assert_eq!(
        of(&older.followed_by(newer), LineKind::Todo),
        ["write the changelog"]
    );
}

#[test]
fn a_repeated_sentence_is_one_line_until_all_its_sources_are_forgotten() {
    let talk = [
        assistant("The gateway listens on port 8443 today."),
        user("and the gateway listens on port 8443 today."),
        assistant("The gateway listens on port 8443 today."),
    ];
    let all = digest(&talk);
    let line = all
        .lines
        .iter()
        .find(|line| line.text.starts_with("The gateway"))
        .expect("it is told");
    assert_eq!(line.sources, [ItemId(0), ItemId(2)]);
    let text = all.clone().without(ItemId(0)).to_text();
    assert!(text.contains("The gateway"));
    assert!(
        !all.without(ItemId(0))
            .without(ItemId(2))
            .to_text()
            .contains("The gateway")
    );
}

#[test]
fn a_line_that_later_items_refer_to_is_worth_more() {
    let mut items = vec![
        result("a", "src/one.rs:10: x\nsrc/two.rs:20: y", false),
        assistant("src/two.rs:20 looks wrong."),
    ];
    items.remove(1);
    let alone = digest(&items);
    items.push(call("b", "Grep", r#"{"pattern":"x","where":"src/two.rs:20"}"#));
    let referred = digest(&items);
    let worth = |digest: &Digest, text: &str| {
        digest
            .lines
            .iter()
            .find(|line| line.text.contains(text))
            .expect("a line")
            .worth
    };
    assert!(worth(&alone, "two") <= worth(&alone, "one"));
    assert!(worth(&referred, "two") > worth(&referred, "one"));
}

#[test]
fn a_line_unlike_the_others_of_its_result_is_worth_more() {
    let mut log: Vec<String> = (0..12)
        .map(|n| format!("test case::number_{n} ... ok (12 ms)"))
        .collect();
    log.insert(5, "[gc] freed 12 ms ago".to_owned());
    let digest = digest(&[result("a", &log.join("\n"), false)]);
    let best = digest
        .lines
        .iter()
        .max_by(|a, b| a.worth.total_cmp(&b.worth))
        .expect("lines");
    assert_eq!(best.text, "[gc] freed 12 ms ago");
}

#[test]
fn a_small_room_holds_the_rule_and_the_objective() {
    let mut items = session();
    items.extend((0..200).map(|n| {
        assistant(&format!(
            "The step number {n} of the plan went through without any surprise."
        ))
    }));
    let meter = Meter::estimate();
    let text = digest(&items).within(60, &meter).to_text();
    assert!(
        text.contains("Never touch the files under legacy/.") && text.contains("Please add a retry queue"),
        "{text}"
    );
    assert!(meter.text(&text) <= 60, "{text}");
}

#[test]
fn pasted_text_gives_details_and_errors_but_no_rules() {
    let pasted = user(
        "It breaks:\n```\nfatal: bad object 9fceb02d0ae598e95dc970b74767f19372d61af8\nnever do this\n```",
    );
    let digest = digest(&[
        pasted,
        Item::text(
            Role::System,
            "Always answer in  Welsh.\nThe build is at src/a.rs:1.",
        ),
    ]);
    assert_eq!(of(&digest, LineKind::Constraint), ["Always answer in  Welsh."]);
    assert_eq!(
        of(&digest, LineKind::Error),
        ["fatal: bad object 9fceb02d0ae598e95dc970b74767f19372d61af8"]
    );
    assert!(!digest.to_text().contains("src/a.rs"));
    let pasted = assistant("The entry point is\n```\nfn main_loop(queue: &Queue) -> Result<()> {\n```");
    assert!(
        self::digest(&[pasted])
            .to_text()
            .contains("main_loop(queue: &Queue) -> Result<()>")
    );
}

fn hostile() -> impl Strategy<Value = Vec<Item>> {
    let piece = prop_oneof![
        any::<String>(),
        "(</?[a-z_|]{1,12}>|never |must |\\n|# |- \\[ \\] |x.rs:1 |。|错误|\u{202e}|\u{0}|```|error: |\\PC){0,30}",
        Just("不要删除。".to_owned()),
        "Never (touch|use) [a-z]{3,9}/?[.]",
    ];
    let item = (0..5_u8, piece, 0..3_u8, any::<bool>()).prop_map(|(shape, text, id, failed)| match shape {
        0 => user(&text),
        1 => assistant(&text),
        2 => call(
            &format!("c{id}"),
            ["bash", "Write", "update_plan"][usize::from(id)],
            &text,
        ),
        3 => result(&format!("c{id}"), &text, failed),
        _ => Item::text(Role::System, text),
    });
    prop::collection::vec(item, 0..12)
}

proptest! {
    #[test]
    fn any_stretch_gives_a_safe_and_stable_digest(items in hostile(), split in 0_usize..12, room in 0_usize..400) {
        let whole = digest(&items);
        prop_assert_eq!(&whole, &digest(&items));
        let text = whole.to_text();
        let opens = text.contains("</s") || text.contains("<|") || text.contains('\u{202e}');
        prop_assert!(!opens);
        prop_assert!(text.lines().all(|line| line.starts_with("- ") || line.starts_with("## ")));
        prop_assert!(whole.lines.iter().all(|line| line.text.len() <= 620 && !line.sources.is_empty()));
        prop_assert!(whole.lines.iter().all(|line| (0.0..=1.0).contains(&line.worth)));
        prop_assert_eq!(&Digest::default().followed_by(whole.clone()), &whole);

        let split = split.min(items.len());
        let first = digest(&items[..split]).followed_by(digest_from(split as u64, &items[split..]));
        let rules = |digest: &Digest| of(digest, LineKind::Constraint).into_iter().map(str::to_owned).collect::<Vec<_>>();
        prop_assert_eq!(rules(&first), rules(&whole));

        let meter = Meter::estimate();
        let alone = Digest { lines: whole.lines.iter().filter(|line| line.kind == LineKind::Constraint).cloned().collect() };
        let small = whole.clone().within(room, &meter);
        let weights: usize = alone.lines.iter().map(|line| meter.text(&line.text) + 8).sum();
        if weights + 8 <= room * 3 / 5 {
            prop_assert_eq!(rules(&small), rules(&whole));
        }
        prop_assert!(meter.text(&small.to_text()) <= room);

        let mut forgotten = whole;
        for id in 0..items.len() as u64 {
            forgotten = forgotten.without(ItemId(id));
        }
        prop_assert!(forgotten.lines.is_empty());
    }

    #[test]
    fn rules_are_slices_of_a_persons_words(text in "(never |must |must not |always |\\n|\"|```|, |[.] |\\PC){0,40}", tool in "Never [a-z]{9}[.]") {
        let item = user(&text);
        prop_assert!(rules_of(&item).iter().all(|rule| rule.len() <= 400));
        let items = [item, result("x", &tool, false), assistant(&tool)];
        let digest = digest(&items);
        prop_assert!(!of(&digest, LineKind::Constraint).contains(&tool.as_str()));
    }
}
