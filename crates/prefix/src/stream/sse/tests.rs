//! Events of the standard's own examples, and the limit.

use super::*;

fn events(stream: &[u8]) -> Vec<(Option<String>, String)> {
    let mut decoder = Decoder::default();
    let events = decoder.push(stream);
    events.into_iter().map(|event| (event.name, event.data)).collect()
}

fn data(stream: &str) -> Vec<String> {
    events(stream.as_bytes())
        .into_iter()
        .map(|(_, data)| data)
        .collect()
}

#[test]
fn lines_end_in_three_ways() {
    assert_eq!(
        data("data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\r\n\n"),
        ["a", "b", "c", "d"]
    );
}

#[test]
fn a_line_feed_in_the_next_piece_belongs_to_its_carriage_return() {
    let mut decoder = Decoder::default();
    assert!(decoder.push(b"data: a\r").is_empty());
    assert!(decoder.push(b"").is_empty());
    assert!(decoder.push(b"\ndata: b\r").is_empty());
    let events = decoder.push(b"\n\r\n");
    assert_eq!(events[0].data, "a\nb");
}

#[test]
fn many_lines_of_data_are_one_text() {
    assert_eq!(data("data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
    assert_eq!(data("data\n\ndata\ndata\n\ndata:"), ["", "\n"]);
}

#[test]
fn one_space_after_the_colon_is_removed() {
    assert_eq!(data("data:a\n\ndata: b\n\ndata:  c\n\n"), ["a", "b", " c"]);
}

#[test]
fn comments_and_unknown_fields_are_ignored() {
    assert_eq!(
        data(": OPENROUTER PROCESSING\n\nid: 1\nretry: 5\ndata: a\nother\n\n:\n"),
        ["a"]
    );
}

#[test]
fn a_name_lasts_for_one_event() {
    let named = events(b"event: add\ndata: 1\n\nevent: lost\n\ndata: 2\n\nevent:\ndata: 3\n\n");
    let names: Vec<_> = named.iter().map(|(name, _)| name.as_deref()).collect();
    assert_eq!(names, [Some("add"), None, None]);
}

#[test]
fn a_byte_order_mark_counts_only_at_the_beginning() {
    assert_eq!(data("\u{feff}data: a\n\n\u{feff}data: b\n\n"), ["a"]);
    assert_eq!(data("\u{feff}\ndata: a\n\n"), ["a"]);
}

#[test]
fn split_characters_are_joined_and_broken_ones_are_replaced() {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    for byte in "data: süß 🦀\n\n".as_bytes() {
        events.extend(decoder.push(&[*byte]));
    }
    assert_eq!(events[0].data, "süß 🦀");
    assert_eq!(decoder.push(b"data: \xf0\x9f\n\n")[0].data, "\u{fffd}");
}

#[test]
fn the_end_completes_an_event_without_an_empty_line() {
    for stream in ["data: [DONE]", "data: [DONE]\n", "data: [DONE]\r"] {
        let mut decoder = Decoder::default();
        assert!(decoder.push(stream.as_bytes()).is_empty());
        assert_eq!(decoder.finish().expect("an event").data, "[DONE]", "{stream:?}");
        assert_eq!(decoder.finish(), None);
    }
    let mut decoder = Decoder::default();
    decoder.push(b"data: a\n\n: comment");
    assert_eq!(decoder.finish(), None);
}

#[test]
fn an_event_that_is_too_long_is_dropped_and_the_next_is_not() {
    let long = "x".repeat(1 << 20);
    for line in ["data: ", "", "event: ", ": "] {
        let mut decoder = Decoder::default();
        decoder.push(line.as_bytes());
        for _ in 0..20 {
            assert!(decoder.push(long.as_bytes()).is_empty());
            assert!(decoder.line.capacity() + decoder.data.capacity() <= 3 * EVENT_BYTES_MAX);
        }
        assert!(decoder.line.capacity() + decoder.data.capacity() < 64, "{line:?}");
        let events = decoder.push(b"\ndata: rest\n\ndata: next\n\n");
        assert_eq!(events.len(), 1, "{line:?}");
        assert_eq!(events[0].data, "next");
    }
}

#[test]
fn many_lines_can_exceed_the_limit_together() {
    let mut decoder = Decoder::default();
    let line = format!("data: {}\n", "x".repeat(1 << 20));
    for _ in 0..9 {
        decoder.push(line.as_bytes());
    }
    assert!(decoder.push(b"\n").is_empty());
}

#[test]
fn an_event_of_the_longest_length_is_kept() {
    let mut decoder = Decoder::default();
    let most = "x".repeat(EVENT_BYTES_MAX - "data: ".len());
    let events = decoder.push(format!("data: {most}\n\ndata: {most}x\n\n").as_bytes());
    assert_eq!(events.len(), 1);
}
