//! Whole words match in any form of writing; parts of words do not match.

use super::Words;

fn has(words: &str, text: &str) -> bool {
    Words::parse(words).expect("words").are_in([text])
}

#[test]
fn whole_words_are_found_in_any_form_of_writing() {
    for text in [
        "Petra called",
        "I met PETRA.",
        "petra's birthday",
        "Petra’s dog",
        "with Pétra",
        "(Petra)",
    ] {
        assert!(has("Petra", text), "{text}");
    }
    for text in ["Petrarca wrote it", "petrae", "Peter", "", "a petrachat"] {
        assert!(!has("Petra", text), "{text}");
    }
    assert!(has("Petra's", "Petra called"));
    assert!(has("josé garcía", "Garcia, Jose"));
    assert!(!has("jose garcia", "Jose alone"));
    assert!(has("王芳", "昨天见了王芳"));
    assert!(!has("王芳", "王先生的芳香"));
    assert!(has("the", "over the sea"), "a stop word is a word");
}

#[test]
fn several_texts_contain_the_words_together() {
    let words = Words::parse("petra porto").expect("words");
    assert!(words.are_in(["To Porto", "with Petra"]));
    assert!(!words.are_in(["To Porto"]));
}

#[test]
fn a_text_without_a_word_is_refused() {
    for text in ["", "  ", "?!", "-"] {
        Words::parse(text).expect_err(text);
    }
}
