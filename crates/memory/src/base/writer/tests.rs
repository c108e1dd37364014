//! A merged write has the same result as its writes one after the other.

use std::sync::Arc;

use model::{Doc, DocId, DocKey, Name, Owner, Scope};
use proptest::prelude::*;
use tokio::sync::oneshot;

use super::{Write, merged};

fn key(n: u8) -> DocKey {
    let owner = Owner::user(Name::parse("ann").expect("a proper name"));
    DocKey {
        scope: Scope::default(),
        owner,
        id: DocId::from(n.to_string()),
    }
}

fn doc(n: u8, text: u8) -> Doc {
    Doc {
        key: key(n),
        kind: model::DocKind::Turn,
        session: None,
        parent: None,
        seq: 0,
        time: model::Timestamp::default(),
        valid_from: None,
        valid_until: None,
        supersedes: Vec::new(),
        superseded_by: None,
        origin: model::Origin::User,
        role: None,
        speaker: None,
        senders: Vec::new(),
        labels: Vec::new(),
        confidence_percent: None,
        sources: Vec::new(),
        subject: String::new(),
        summary: String::new(),
        text: text.to_string(),
        path: Arc::from(""),
        vector: None,
    }
}

fn applied(rows: &mut std::collections::BTreeMap<DocKey, String>, add: &[Doc], remove: &[DocKey]) {
    for key in remove {
        rows.remove(key);
    }
    rows.extend(add.iter().map(|doc| (doc.key.clone(), doc.text.clone())));
}

proptest! {
    #[test]
    fn a_merged_write_equals_its_writes_in_turn(
        before in prop::collection::btree_set(0u8..6, 0..6),
        writes in prop::collection::vec((prop::collection::vec((0u8..6, 0u8..3), 0..4), prop::collection::vec(0u8..6, 0..4)), 1..6),
    ) {
        let mut one_by_one: std::collections::BTreeMap<DocKey, String> =
            before.iter().map(|n| (key(*n), "before".to_owned())).collect();
        let mut at_once = one_by_one.clone();
        let writes: Vec<Write> = writes
            .into_iter()
            .map(|(add, remove)| Write {
                add: add.into_iter().map(|(n, text)| doc(n, text)).collect(),
                remove: remove.into_iter().map(key).collect(),
                appends: Vec::new(),
                is_erasing: false,
                done: oneshot::channel().0,
            })
            .collect();
        for write in &writes {
            applied(&mut one_by_one, &write.add, &write.remove);
        }
        let (add, remove) = merged(&writes);
        applied(&mut at_once, &add, &remove);
        prop_assert_eq!(at_once, one_by_one);
        let mut keys: Vec<_> = add.iter().map(|doc| &doc.key).collect();
        keys.dedup();
        prop_assert_eq!(keys.len(), add.len(), "a row is added twice");
    }
}
