//! Which episodes belong together, and that a second call gives the same clusters.

use model::Timestamp;
use proptest::prelude::*;

use super::day;
use crate::consolidate::cluster::{Member, Nearness, clusters, id};

fn vector(angle: f32) -> Vec<f32> {
    vec![angle.cos(), angle.sin()]
}

fn ids(told: &[(&str, Timestamp, Vec<f32>)]) -> Vec<Vec<String>> {
    let members: Vec<Member<'_>> = told
        .iter()
        .map(|(id, time, vector)| Member {
            id,
            time: *time,
            vector,
        })
        .collect();
    let found = clusters(&members, Nearness::default());
    found
        .iter()
        .map(|places| places.iter().map(|at| told[*at].0.to_owned()).collect())
        .collect()
}

#[test]
fn episodes_near_in_meaning_and_time_share_a_cluster() {
    let told = [
        ("a", day(0), vector(0.0)),
        ("b", day(6), vector(0.3)),
        ("c", day(7), vector(1.5)),
        ("d", day(13), vector(0.2)),
        ("e", day(21), vector(0.1)),
    ];
    assert_eq!(ids(&told), [vec!["a", "b", "d"], vec!["c"], vec!["e"]]);
}

#[test]
fn an_episode_joins_within_seven_days_and_not_later() {
    let just = |late: i64| {
        [
            ("a", day(0), vector(0.0)),
            ("b", day(7).plus_millis(late), vector(0.0)),
        ]
    };
    assert_eq!(ids(&just(0)).len(), 1);
    assert_eq!(ids(&just(1)).len(), 2);
}

#[test]
fn the_clusters_mean_decides_and_not_its_first_episode() {
    // 1.1 is too far from 0, and near enough to the mean of 0 and 0.9.
    let told = [
        ("a", day(0), vector(0.0)),
        ("b", day(1), vector(0.9)),
        ("c", day(2), vector(1.1)),
    ];
    assert_eq!(ids(&told).len(), 1);
    assert_eq!(ids(&[told[0].clone(), told[2].clone()]).len(), 2);
}

#[test]
fn a_zero_vector_or_another_models_vector_joins_no_cluster() {
    let told = [
        ("a", day(0), vec![0.0, 0.0]),
        ("b", day(0), vec![0.0, 0.0]),
        ("c", day(0), vec![1.0, 0.0]),
        ("d", day(0), vec![1.0, 0.0, 0.0]),
    ];
    assert_eq!(ids(&told).len(), 4);
}

proptest! {
    #[test]
    fn every_episode_is_in_one_cluster_in_any_order(angles in prop::collection::vec((0.0f32..6.3, 0i64..40), 0..40), turn in 0usize..40) {
        let names: Vec<String> = (0..angles.len()).map(|n| format!("e{n:02}")).collect();
        let mut told: Vec<(&str, Timestamp, Vec<f32>)> = names.iter().zip(&angles)
            .map(|(name, (angle, days))| (name.as_str(), day(*days), vector(*angle))).collect();
        let found = ids(&told);
        let mut all: Vec<&String> = found.iter().flatten().collect();
        all.sort();
        prop_assert_eq!(all, names.iter().collect::<Vec<_>>());
        let by = turn % told.len().max(1);
        told.rotate_left(by);
        prop_assert_eq!(&ids(&told), &found);
    }

    #[test]
    fn a_later_episode_joins_a_cluster_or_begins_one(angles in prop::collection::vec((0.0f32..6.3, 0i64..40), 2..40)) {
        let names: Vec<String> = (0..angles.len()).map(|n| format!("e{n:02}")).collect();
        let mut angles = angles;
        angles.sort_by_key(|(_, days)| *days);
        let told: Vec<(&str, Timestamp, Vec<f32>)> = names.iter().zip(&angles)
            .map(|(name, (angle, days))| (name.as_str(), day(*days), vector(*angle))).collect();
        let before = ids(&told[..told.len() - 1]);
        let mut after = ids(&told);
        for cluster in &mut after {
            cluster.retain(|id| id != names.last().expect("two at least"));
        }
        after.retain(|cluster| !cluster.is_empty());
        prop_assert_eq!(before, after);
    }
}

#[test]
fn ten_thousand_episodes_of_one_week_are_clustered_fast() {
    let names: Vec<String> = (0..10_000).map(|n| format!("e{n:05}")).collect();
    let told: Vec<Vec<f32>> = (0..10_000)
        .map(|n| (0..8).map(|k| if n % 8 == k { 1.0 } else { 0.0 }).collect())
        .collect();
    let members: Vec<Member<'_>> = names
        .iter()
        .zip(&told)
        .enumerate()
        .map(|(n, (id, vector))| Member {
            id,
            time: day(0).plus_millis(i64::try_from(n).expect("few") * 60_000),
            vector,
        })
        .collect();
    assert_eq!(clusters(&members, Nearness::default()).len(), 8);
}

#[test]
fn a_cluster_id_depends_on_the_members_only() {
    assert_eq!(id(["a", "b"]), id(["b", "a", "b"]));
    assert_ne!(id(["a", "b"]), id(["ab"]));
    assert!(id(["a"]).starts_with("cl_"));
}
