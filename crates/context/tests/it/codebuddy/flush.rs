//! Conformance with code-buddy's `PrecompactionFlusher` (PC-1 to PC-6, PC-9).

use context::flush::{Destination, FlushReport, FlushWork, Policy, Unwritable, finish};
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
    fn append(&mut self, section: &str) -> Result<String, Unwritable> {
        if self.broken {
            return Err(Unwritable);
        }
        self.text.push_str(section);
        Ok(self.place())
    }
    fn place(&self) -> String {
        "profile/MEMORY.md".to_owned()
    }
}

fn flush(answer: Option<&str>) -> (FlushReport, String) {
    let mut profile = Profile {
        text: "old\n".to_owned(),
        broken: false,
    };
    let report = finish(answer, "2026-02-03", &Policy::default(), &mut profile);
    (report, profile.text)
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
        let (report, file) = flush(Some(text));
        assert_eq!(
            (report.flushed, report.suppressed, report.facts, file.as_str()),
            (false, true, 0, "old\n")
        );
    }
    let bullets = (0..50)
        .map(|n| format!("- fact number {n}"))
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(flush(Some(&format!("NO_REPLY\n{bullets}"))).0.facts, 50);
    let (report, file) = flush(Some("Intro\n- a\n- b\nmore\n- c"));
    assert_eq!(
        (report.flushed, report.facts, report.written_to.as_deref()),
        (true, 3, Some("profile/MEMORY.md"))
    );
    assert_eq!(
        file,
        "old\n\n## Facts extracted 2026-02-03 (pre-compaction flush)\n\n- a\n- b\n- c\n"
    );
    for answer in [Some("  "), None, Some("<think>- a fact that was cut")] {
        let (report, file) = flush(answer);
        assert_eq!(
            (
                report.flushed,
                report.suppressed,
                report.written_to,
                file.as_str()
            ),
            (false, false, None, "old\n")
        );
    }
}

#[test]
fn pc_9_a_place_that_fails_is_no_success() {
    let mut profile = Profile {
        broken: true,
        ..Profile::default()
    };
    let report = finish(Some("- a"), "2026-02-03", &Policy::default(), &mut profile);
    assert_eq!(
        (report.flushed, report.facts, report.written_to),
        (false, 0, None)
    );
}
