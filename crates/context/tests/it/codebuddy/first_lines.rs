//! CM-11: the summary of first lines.

use context::shorten::first_lines::first_lines;
use transcript::{Item, Role};

fn talk(count: usize) -> Vec<Item> {
    let roles = [Role::User, Role::Assistant];
    let said = |index: usize| format!("{index} {}", "some words that were said ".repeat(8));
    (0..count)
        .map(|index| Item::text(roles[index % 2], said(index)))
        .collect()
}

#[test]
fn cm_11_the_summary_keeps_the_oldest_lines() {
    let items = talk(8);
    let lines = first_lines(&items[..6], 2);
    let told: Vec<&str> = lines.lines().collect();
    assert_eq!(told.len(), 4);
    assert_eq!(told[0], "[Conversation Summary]");
    assert!(told[1].contains("0 some") && told[2].contains("1 some") && told[3].contains("2 some"));
    assert!(
        told[1..]
            .iter()
            .all(|line| line.split_once(": ").unwrap().1.len() <= 100)
    );
}

#[test]
fn cm_11_failed_attempts_are_listed() {
    let failures: Vec<Item> = (0..7)
        .map(|at| Item::outcome(format!("c{at}"), format!("Error: {at} {}", "x".repeat(300))))
        .collect();
    let lines = first_lines(&failures, 4);
    let listed: Vec<&str> = lines.lines().filter(|line| line.starts_with("- ")).collect();
    assert!(lines.to_lowercase().contains("do not retry"));
    assert_eq!(listed.len(), 5);
    assert!(listed[0].starts_with("- Error: 2") && listed.iter().all(|line| line.len() <= 202));
}
