//! Any items, also those that no dialect writes: a view pairs, is repaired once, keeps what users said and real results.

#![no_main]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use transcript::{Block, Call, Image, Item, Outcome, Role, Thinking, order, repair};

const ROLES: [Role; 4] = [Role::System, Role::User, Role::Assistant, Role::Tool];
const PLACEHOLDER: &str = "[executing...]";

fuzz_target!(|program: &[u8]| {
    let (items, pending) = built(program);
    let view = repair::for_view(&items, &pending).unwrap_or_else(|| items.clone());
    assert!(order::openai(&view));
    assert_eq!(
        repair::for_view(&view, &BTreeSet::new()),
        None,
        "repairing twice is repairing once"
    );
    assert_eq!(
        words(&items),
        words(&view),
        "no words of a user are lost or change places"
    );
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    items
        .iter()
        .flat_map(|item| item.calls())
        .for_each(|call| *calls.entry(&call.id).or_default() += 1);
    let real = items
        .iter()
        .flat_map(|item| item.outcomes())
        .filter(|outcome| outcome.text != PLACEHOLDER);
    let real: BTreeSet<&str> = real.map(|outcome| outcome.call_id.as_str()).collect();
    for outcome in view.iter().flat_map(|item| item.outcomes()) {
        let id = outcome.call_id.as_str();
        let is_real = outcome.text.starts_with("result ");
        assert!(
            calls[id] > 1 || is_real == real.contains(id),
            "a real result wins: {outcome:?}"
        );
    }
});

/// Items built by one byte a step: three bits say what comes next, five which.
fn built(program: &[u8]) -> (Vec<Arc<Item>>, BTreeSet<String>) {
    let mut items: Vec<Item> = Vec::new();
    let mut pending = BTreeSet::new();
    for (at, byte) in program.iter().take(200).enumerate() {
        let which = byte & 31;
        let id = if which & 7 == 0 {
            String::new()
        } else {
            format!("c{}", which & 7)
        };
        let outcome = |text| Outcome {
            call_id: id.clone(),
            text,
            failed: false,
            images: 0,
        };
        let call = || Call {
            id: id.clone(),
            name: "run".to_owned(),
            arguments: String::new(),
        };
        let block = match byte >> 5 {
            0 => {
                items.push(item(ROLES[usize::from(which & 3)], Vec::new(), None));
                continue;
            }
            1 => Block::Call(call()),
            2 => Block::Outcome(outcome(format!("result {at}"))),
            3 => Block::Outcome(outcome(PLACEHOLDER.to_owned())),
            4 => Block::Thinking(Thinking {
                text: format!("hm {at}"),
                raw: format!("{{\"at\":{at}}}"),
            }),
            5 if which & 8 == 0 => Block::Text(format!("text {at}")),
            5 => Block::Image(Image {
                raw: format!("{{\"at\":{at}}}"),
            }),
            6 => {
                let raw =
                    format!(r#"{{"type":"function_call","call_id":"{id}","name":"run","arguments":""}}"#);
                items.push(item(Role::Assistant, vec![Block::Call(call())], Some(raw.into())));
                continue;
            }
            _ => {
                pending.insert(id);
                continue;
            }
        };
        if let Some(last) = items.last_mut().filter(|last| last.raw.is_none()) {
            last.blocks.push(block);
        }
    }
    (items.into_iter().map(Arc::new).collect(), pending)
}

fn item(role: Role, blocks: Vec<Block>, raw: Option<Box<str>>) -> Item {
    Item {
        role,
        blocks,
        raw,
        edited: false,
    }
}

fn words(items: &[Arc<Item>]) -> Vec<&Block> {
    let users = items.iter().filter(|item| item.role == Role::User);
    let own = |block: &&Block| !matches!(block, Block::Outcome(_) | Block::Call(_) | Block::Thinking(_));
    users.flat_map(|item| &item.blocks).filter(own).collect()
}
