//! Rows survive the text that they are stored as; other texts are refused. Never: the store.

use std::sync::Arc;

use model::record::{Seen, read, write};
use model::{Doc, MessageId};
use testkit::index::samples::{full, turn};

fn again(text: &str, of: &Doc) -> Option<Doc> {
    read(text, &of.key.scope, &of.key.owner, &mut Seen::default())
}

/// Rows that use every field, and rows that use hardly any.
fn rows() -> Vec<Doc> {
    let mut long = full("ann", "é;5;");
    long.text = "+1;x\n".repeat(30);
    let bare = turn("ann", "m1", "");
    let foreign = Doc {
        sources: vec![MessageId::new("m2"), MessageId::new("m1")],
        path: Arc::from(""),
        ..bare.clone()
    };
    let none = Doc {
        sources: Vec::new(),
        senders: Vec::new(),
        session: None,
        ..bare.clone()
    };
    [long, bare, foreign, none]
        .map(|row| Doc { vector: None, ..row })
        .to_vec()
}

#[test]
fn a_row_comes_back_as_it_was() {
    for row in rows() {
        assert_eq!(again(&write(&row), &row), Some(row));
    }
}

#[test]
fn a_text_that_was_cut_or_lengthened_is_not_a_row() {
    for row in rows() {
        let text = write(&row);
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            assert_eq!(again(&text[..at], &row), None, "{at}");
        }
        assert_eq!(again(&format!("{text}0;"), &row), None);
    }
}

#[test]
fn lengths_that_lie_take_no_memory() {
    for text in [
        "18446744073709551615;m1",
        "99999999999999999999;m1",
        "-1;m1",
        "2;m1;",
    ] {
        assert_eq!(again(text, &rows()[1]), None, "{text}");
    }
    let row = &rows()[2];
    let lie = write(row).replace("+2;2;m2", "+18446744073709551615;2;m2");
    assert_eq!(again(&lie, row), None);
}
