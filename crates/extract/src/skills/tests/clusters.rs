//! Cases of one kind.

use super::{DEPLOY, DEPLOY_AGAIN, known};
use crate::skills::{KnownCase, clusters};

const TESTS: &str = r#"
    u: Make the parser tests pass
    c: run {"command": "cargo test"} => test result: FAILED
    c: edit_file {"path": "src/parser.rs"} => ok
    c: run {"command": "cargo test"} => test result: ok
    a: They pass.
    u: Thanks
"#;

#[test]
fn cases_of_one_kind_share_a_cluster_in_any_order() {
    let cases = [("ac_1", 1, DEPLOY), ("ac_2", 2, DEPLOY_AGAIN), ("ac_3", 3, TESTS)];
    let mut cases = cases.map(|(id, hours, talk)| known(id, hours, talk));
    let ids = |cases: &[KnownCase]| -> Vec<(String, Vec<String>)> {
        let of = |cluster: &crate::skills::Cluster<'_>| {
            cluster.cases.iter().map(|case| case.id.to_string()).collect()
        };
        clusters(cases)
            .iter()
            .map(|cluster| (cluster.id.clone(), of(cluster)))
            .collect()
    };
    let found = ids(&cases);
    let members: Vec<&[String]> = found.iter().map(|(_, members)| members.as_slice()).collect();
    assert_eq!(
        members,
        [&["ac_1".to_owned(), "ac_2".to_owned()][..], &["ac_3".to_owned()]]
    );
    cases.reverse();
    assert_eq!(ids(&cases), found);
    assert_eq!(
        ids(&cases[1..])[0].0,
        found[0].0,
        "a cluster keeps its id while it grows"
    );
}
