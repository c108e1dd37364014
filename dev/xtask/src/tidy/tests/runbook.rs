//! Rows of a runbook and the tests that own them.

use super::super::runbook::check;
use super::file;

#[test]
fn a_row_without_a_test_and_a_test_without_a_row_are_named() {
    let runbook = "# Operations\n\n| not | one |\n|---|---|\n| a | b |\n\n## Problems and fixes\n\n| symptom | action |\n|---|---|\n\
                   | it is full | free space |\n| it is slow | wait |\n| it is odd | look |\n\n## Log\n\n| c | d |\n|---|---|\n| e | f |\n";
    let list = "| symptom | tests |\n|---|---|\n| it is full | `a/tests/it/disk.rs::full` |\n| it is odd | `a/tests/it/disk.rs::helper` |\n\
                | it is gone | |\n";
    let tests = "//! m\n\n#[test]\nfn full() {}\n\nfn helper() {}\n";
    let files = [
        file("docs/operations.md", runbook),
        file("docs/internals/runbook.md", list),
        file("a/tests/it/disk.rs", tests),
    ];
    assert_eq!(
        check(&files),
        [
            "docs/internals/runbook.md:4: there is no test `a/tests/it/disk.rs::helper`",
            "docs/internals/runbook.md:5: no test is named",
            "docs/operations.md:12: docs/internals/runbook.md names no test for `it is slow`",
            "docs/internals/runbook.md: no runbook has the row `it is gone`",
        ]
    );
}
