//! A ceiling that falls, stays and is raised.

use serde_json::json;

use super::super::ceiling::{Earlier, check, history};

fn earlier(commit: &str, limits: &str) -> Earlier {
    Earlier {
        commit: commit.to_owned(),
        manifest: format!("[workspace.metadata.limits]\n{limits}"),
    }
}

fn problems(ceiling: u64, measure: u64) -> Vec<String> {
    let limits = json!({"product_code_lines_max": ceiling, "product_code_lines_measure": measure});
    let history = [
        earlier(
            "HEAD",
            "product_code_lines_max = 90\nproduct_code_lines_measure = 2\n",
        ),
        earlier(
            "c1",
            "product_code_lines_max = 80\nproduct_code_lines_measure = 2\n",
        ),
        earlier(
            "c2",
            "product_code_lines_max = 85\nproduct_code_lines_measure = 2\n",
        ),
        earlier(
            "other",
            "product_code_lines_max = 10\nproduct_code_lines_measure = 1\n",
        ),
        earlier("none", "product_code_lines_max = 10\n"),
        earlier("broken", "["),
    ];
    check(&json!({"metadata": {"limits": limits}}), &history)
}

#[test]
fn a_raised_ceiling_is_named() {
    assert_eq!(problems(80, 2), [""; 0]);
    assert_eq!(problems(79, 2), [""; 0]);
    assert_eq!(
        problems(81, 2),
        [
            "Cargo.toml: `product_code_lines_max` is 81 and was 80 in c1; it may only fall: change the code instead"
        ]
    );
}

#[test]
fn a_raised_limit_of_loops_is_named() {
    let limits = |files: u64| json!({"metadata": {"limits": {"product_code_lines_measure": 2, "loop_files_max": files}}});
    let earlier = [earlier(
        "HEAD",
        "product_code_lines_measure = 2\nloop_files_max = 8\n",
    )];
    assert_eq!(check(&limits(8), &earlier), [""; 0]);
    assert_eq!(
        check(&limits(9), &earlier),
        ["Cargo.toml: `loop_files_max` is 9 and was 8 in HEAD; it may only fall: change the code instead"]
    );
}

#[test]
fn another_measure_is_named() {
    for measure in [1, 3] {
        assert_eq!(
            problems(10, measure),
            ["Cargo.toml: `product_code_lines_measure` must be 2, which is what tidy counts"]
        );
    }
    assert_eq!(check(&json!({}), &[]).len(), 1);
}

#[test]
fn the_history_begins_with_head_and_has_each_ceiling() {
    let history = history(&crate::root()).expect("a clone has HEAD");
    assert_eq!(history[0].commit, "HEAD");
    assert!(
        history
            .iter()
            .all(|earlier| earlier.manifest.contains("[workspace]"))
    );
    let raised = json!({"metadata": {"limits": {"product_code_lines_max": 1_000_000, "product_code_lines_measure": 2}}});
    assert_eq!(check(&raised, &history).len(), 1);
}
