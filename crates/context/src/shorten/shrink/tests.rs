//! The ladder against texts of any kind.

use crate::tokens::Meter;
use proptest::prelude::*;

use super::*;

fn hostile() -> impl proptest::strategy::Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        Just("The build failed because of `x()`. ".to_owned()),
        Just("我们决定使用这个端口。".to_owned()),
        Just("\n\n\n".to_owned()),
        "[a-z ]{0,60}\n",
    ];
    (prop::collection::vec(piece, 0..40), 1_usize..5)
        .prop_map(|(pieces, times)| pieces.concat().repeat(times))
}

proptest! {
    // I38
    #[test]
    fn the_target_is_reached(text in hostile(), tokens_max in 0_usize..400) {
        let meter = Meter::estimate();
        let shrunk = to_target(&text, tokens_max, &meter);
        prop_assert!(meter.text(&shrunk) <= tokens_max);
        prop_assert!(!shrunk.is_empty() || text.is_empty() || tokens_max < 8, "{:?} {}", text, tokens_max);
    }
}

#[test]
fn a_log_of_one_line_is_squeezed() {
    let text = format!("start\n{}end", "waiting for the lock   \n".repeat(500));
    let shrunk = to_target(&text, 40, &Meter::estimate());
    assert_eq!(shrunk, "start\nwaiting for the lock [500 times]\nend");
}

#[test]
fn important_sentences_stay_in_order_in_any_language() {
    let noise = "Das Wetter war gestern recht angenehm und wir gingen spazieren. ".repeat(40);
    let text = format!(
        "{noise}Wir haben uns für Port 8443 entschieden.\n{noise}Der Build ist fehlgeschlagen: E0308.\n{noise}"
    );
    let shrunk = to_target(&text, 60, &Meter::estimate());
    let (port, build) = (shrunk.find("8443"), shrunk.find("E0308"));
    assert!(port.is_some() && port < build, "{shrunk}");
}

#[test]
fn decisions_are_worth_most_in_chinese() {
    let worths = [
        "今天天气很好我们出去散步。",
        "我们决定使用端口8443_a。",
        "午饭吃了面条还不错。",
    ]
    .map(worth);
    assert!(worths[1] > worths[0] && worths[1] > worths[2], "{worths:?}");
}
