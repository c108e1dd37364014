//! No text keeps a key, whole or in part.

use proptest::prelude::*;

use super::{ApiKey, redact};

#[test]
fn text_that_resembles_a_key_is_removed() {
    let key = ApiKey::new(" secret/with+signs \n");
    let text = "Bearer secret/with+signs, Bearer other-key, sk-ab***yz. (hf_token) task-sk- ok";
    assert_eq!(
        redact(text, Some(&key)),
        "Bearer [key], Bearer [key], [key] ([key]) task-sk- ok"
    );
    assert_eq!(format!("{key:?}"), "[key]");
}

proptest! {
    #[test]
    fn the_key_never_survives(before in any::<String>(), key in "[a-z0-9+/=_-]{8,40}", after in any::<String>()) {
        let shown = redact(&format!("{before}{key}{after}"), Some(&ApiKey::new(key.clone())));
        prop_assert!(!shown.contains(&key));
    }

    #[test]
    fn other_text_stays(text in "[a-z ,.é]{0,60}") {
        prop_assert_eq!(redact(&text, None), text);
    }
}
