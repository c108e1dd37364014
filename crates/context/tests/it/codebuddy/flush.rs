//! Conformance with code-buddy's `PrecompactionFlusher` (PC-1 to PC-6, PC-9).

use context::flush::{Destination, FlushWork, Policy, Unflushed, Unwritable, finish};
use transcript::{Item, ItemId, Role};

fn ask(items: &[Item]) -> Option<FlushWork> {
    let span: Vec<(ItemId, &Item)> = items
        .iter()
        .enumerate()
        .map(|(at, item)| (ItemId(at as u64), item))
        .collect();
    FlushWork::of(&span, &Policy::default())
}

#[derive(Default)]
struct Profile {
    text: String,
    broken: bool,
}

impl Destination for Profile {
    fn read(&self) -> Result<String, Unwritable> {
        Ok(self.text.clone())
    }
    fn append(&mut self, section: &str) -> Result<(), Unwritable> {
        if self.broken {
            return Err(Unwritable);
        }
        self.text.push_str(section);
        Ok(())
    }
    fn place(&self) -> String {
        "profile/MEMORY.md".to_owned()
    }
}

/// Number of written facts, or the reason for none, and the file.
fn flush(answer: Option<&str>) -> (Result<usize, Unflushed>, String) {
    let mut profile = Profile {
        text: "old\n".to_owned(),
        broken: false,
    };
    let written = finish(answer, "2026-02-03", &Policy::default(), &mut profile);
    (written, profile.text)
}

#[test]
fn pc_1_2_3_the_question() {
    assert_eq!(ask(&vec![Item::text(Role::User, "a"); 3]), None);
    let mut items = vec![Item::text(Role::System, "hidden"), Item::outcome("c", "ran")];
    items.extend((0..3).map(|_| Item::text(Role::User, "x".repeat(900))));
    let work = ask(&items).unwrap();
    assert!(
        work.system.contains("memory archivist")
            && work.system.contains("NO_REPLY")
            && work.system.contains("120")
    );
    assert!(work.user.starts_with("Conversation to analyse") && !work.user.contains("hidden"));
    assert!(work.user.contains("Tool: ran\n\n---\n\nUser: x"));
    assert_eq!(work.user.matches('x').count(), 2400);
    assert_eq!(ask(&vec![Item::text(Role::User, "a"); 90]).unwrap().items, 60);
}

#[test]
fn pc_4_5_6_the_answer() {
    for text in ["NO_REPLY", "NO_REPLY - nothing of note"] {
        assert_eq!(
            flush(Some(text)),
            (Err(Unflushed::Suppressed), "old\n".to_owned())
        );
    }
    let bullets = (0..50)
        .map(|n| format!("- fact number {n}"))
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(flush(Some(&format!("NO_REPLY\n{bullets}"))).0, Ok(50));
    let file = "old\n\n## Facts extracted 2026-02-03 (pre-compaction flush)\n\n- a\n- b\n- c\n";
    assert_eq!(
        flush(Some("Intro\n- a\n- b\nmore\n- c")),
        (Ok(3), file.to_owned())
    );
    for (answer, why) in [
        (Some("  "), Unflushed::Blank),
        (None, Unflushed::Failed),
        (Some("<think>- a fact that was cut"), Unflushed::CutOff),
    ] {
        assert_eq!(flush(answer), (Err(why), "old\n".to_owned()));
    }
}

#[test]
fn pc_9_a_place_that_fails_is_no_success() {
    let mut profile = Profile {
        broken: true,
        ..Profile::default()
    };
    let written = finish(Some("- a"), "2026-02-03", &Policy::default(), &mut profile);
    assert_eq!(written, Err(Unflushed::Unwritable));
}
