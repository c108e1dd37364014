//! Ceilings of code lines and of shared type names.

use serde_json::json;

use super::super::{SourceFile, figures};
use super::{file, read};

fn files() -> Vec<SourceFile> {
    let one = "//! m\n\n/// d\npub struct Shared {\n    a: &'static str, // c\n}\n\nimpl Iterator for Shared {\n    \
               type Item = u8;\n}\n\n#[cfg(test)]\nmod tests {\n    struct Other;\n}\n";
    let two = "//! m\n\nenum Shared {}\ntrait Other {\n    type Item;\n}\n/* a\nb */\nconst T: &str = \"x\n\ny\";\ntype Alone = u8;\n";
    vec![
        file("crates/a/src/lib.rs", one),
        file("crates/b/src/lib.rs", two),
        file("crates/b/tests/it/main.rs", "struct Shared;\n"),
        file("crates/b/benches/b.rs", "struct Shared;\n"),
        file("crates/b/src/x/tests.rs", "struct Shared;\n"),
        file("dev/c/src/lib.rs", "struct Shared;\n"),
    ]
}

fn problems(lines_max: u64, percent_max: u64) -> Vec<String> {
    let limits = json!({"product_code_lines_max": lines_max, "shared_type_names_percent_max": percent_max});
    let files = files();
    let sources = read(&files);
    figures::figures(&files, &sources).check(&json!({"metadata": {"limits": limits}}))
}

#[test]
fn code_lines_have_a_ceiling() {
    assert_eq!(problems(13, 100), Vec::<String>::new());
    assert_eq!(
        problems(12, 100),
        ["crates: 13 code lines, the ceiling is 12: delete code before you add more"]
    );
}

#[test]
fn included_texts_count_ten_words_a_line_once() {
    let words = "a word ".repeat(10) + "\nlast\n";
    let includes = "//! m\n\nconst A: &str = include_str!(\"a/words.txt\");\n\n#[cfg(test)]\nmod tests {\n    \
                    const B: &str = include_str!(\"for_tests.txt\");\n}\n";
    let again = "//! m\n\nconst A: &str = include_str!(\"../../a/src/a/words.txt\");\n";
    let mut files = vec![
        file("crates/a/src/a/words.txt", &words),
        file("crates/a/src/for_tests.txt", &words),
        file("crates/a/src/unused.txt", &words),
        file("crates/a/src/lib.rs", includes),
    ];
    let lines = |files: &[SourceFile]| {
        let limits = json!({"product_code_lines_max": 0, "shared_type_names_percent_max": 0});
        let sources = read(files);
        figures::figures(files, &sources).check(&json!({"metadata": {"limits": limits}}))
    };
    let four = ["crates: 4 code lines, the ceiling is 0: delete code before you add more"];
    assert_eq!(lines(&files), four, "one line of code, 21 words");
    files.push(file("crates/b/src/lib.rs", again));
    assert!(
        lines(&files)[0].starts_with("crates: 5 code lines"),
        "{:?}",
        lines(&files)
    );
}

#[test]
fn shared_type_names_have_a_ceiling() {
    assert_eq!(problems(13, 50), Vec::<String>::new());
    let found = problems(13, 49);
    assert_eq!(
        found,
        ["crates: 2 of 4 types share their name with another, the ceiling is 49 %: rename some of Shared"]
    );
}

#[test]
fn a_missing_ceiling_is_named() {
    let found = figures::figures(&[], &[]).check(&json!({}));
    assert_eq!(
        found,
        [
            "Cargo.toml: `product_code_lines_max` is missing from the limits",
            "Cargo.toml: `shared_type_names_percent_max` is missing from the limits",
        ]
    );
}

#[test]
fn the_figures_name_each_member() {
    let files = files();
    let sources = read(&files);
    expect_test::expect![[r"
        crates/a                      6
        crates/b                      7
        dev/c                         1
    "]]
    .assert_eq(&figures::figures(&files, &sources).text());
}
