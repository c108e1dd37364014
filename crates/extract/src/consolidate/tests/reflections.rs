//! Merged episodes: written once, and again only when the cluster grew.

use expect_test::expect;
use model::{MessageId, SenderId, Zone};
use proptest::prelude::*;

use super::{day, name};
use crate::consolidate::reflect::{
    CLUSTERS_MAX, KnownEpisode, Merged, MergedEpisode, merged, parse_answer, plans, request,
};
use crate::tests::prompts::{check_example, check_form};

struct Episode {
    id: String,
    subject: String,
    summary: String,
    days: i64,
    sources: Vec<MessageId>,
    senders: Vec<SenderId>,
}

fn episode(n: i64) -> Episode {
    Episode {
        id: format!("ep_{n}"),
        subject: format!("Talk {n}"),
        summary: format!("Ann: the boat leaks at plank {n}."),
        days: n,
        sources: vec![MessageId::new(format!("m{n}"))],
        senders: vec![name("ann")],
    }
}

fn known(episode: &Episode) -> KnownEpisode<'_> {
    KnownEpisode {
        id: &episode.id,
        subject: &episode.subject,
        summary: &episode.summary,
        time: day(episode.days),
        sources: &episode.sources,
        senders: &episode.senders,
    }
}

fn existing<'a>(id: &'a str, merged: &'a Merged) -> MergedEpisode<'a> {
    MergedEpisode {
        id,
        cluster: &merged.cluster,
        subject: &merged.subject,
        body: &merged.body,
        supersedes: merged.members.iter().map(String::as_str).collect(),
    }
}

#[test]
fn a_merged_episode_lists_its_members_in_order() {
    let episodes = [episode(0), episode(3)];
    let told: Vec<KnownEpisode<'_>> = episodes.iter().map(known).collect();
    let one = merged(&told.iter().collect::<Vec<_>>(), &Zone::utc()).expect("it tells something");
    assert_eq!(one.subject, "Talk 3 (and 1 before)");
    assert_eq!(
        one.body,
        "On 1 May 2024: Ann: the boat leaks at plank 0.\nOn 4 May 2024: Ann: the boat leaks at plank 3."
    );
    assert_eq!((one.members.len(), one.sources.len(), one.time), (2, 2, day(3)));
}

#[test]
fn a_cluster_is_merged_again_only_when_it_gained_a_member() {
    let episodes = [episode(0), episode(3), episode(5)];
    let told: Vec<KnownEpisode<'_>> = episodes.iter().map(known).collect();
    let two = vec![
        told.iter().take(2).collect::<Vec<_>>(),
        told.iter().skip(2).collect(),
    ];
    let planned = plans(&two, &[]);
    assert_eq!(planned.len(), 1, "one alone is left as it is");
    let one = merged(&planned[0].members, &Zone::utc()).expect("it tells something");
    let id = one.id();
    assert_eq!(plans(&two, &[existing(&id, &one)]), []);
    let three = vec![told.iter().collect::<Vec<_>>()];
    let again = plans(&three, &[existing(&id, &one)]);
    assert_eq!(again[0].replaces, std::slice::from_ref(&id));
    let changed = Merged {
        body: "Ann has no boat.".to_owned(),
        ..one.clone()
    };
    assert_eq!(
        plans(&three, &[existing(&id, &changed)]),
        [],
        "a person changed it"
    );
}

#[test]
fn the_biggest_clusters_come_first_and_no_more_than_ten() {
    let episodes: Vec<Episode> = (0..60).map(episode).collect();
    let told: Vec<KnownEpisode<'_>> = episodes.iter().map(known).collect();
    let mut clusters: Vec<Vec<&KnownEpisode<'_>>> = told
        .chunks(2)
        .take(20)
        .map(|pair| pair.iter().collect())
        .collect();
    clusters.push(told[40..45].iter().collect());
    let planned = plans(&clusters, &[]);
    assert_eq!(planned.len(), CLUSTERS_MAX);
    assert_eq!(planned[0].members.len(), 5);
    assert_eq!(planned[1].members[0].id, "ep_0");
}

#[test]
fn a_models_merge_keeps_supported_sentences_and_the_rules_title_it_otherwise() {
    let episodes = [episode(0), episode(3)];
    let told: Vec<KnownEpisode<'_>> = episodes.iter().map(known).collect();
    let members: Vec<&KnownEpisode<'_>> = told.iter().collect();
    let answer = "{'content': 'The boat leaks.\n<It leaks> at plank 0. It sank on 9 May 2024. Carol leaks. Sails tore.'}";
    let (said, dropped) = parse_answer(answer, &members, &Zone::utc()).expect("an answer");
    assert_eq!(
        (said.body.as_str(), said.subject.as_str()),
        ("The boat leaks. ‹It leaks› at plank 0.", "Talk 3 (and 1 before)")
    );
    assert_eq!(dropped, 3);
    assert_eq!(said.members, ["ep_0", "ep_3"]);
    let called = |title: &str| {
        let answer = format!("{{\"content\":\"The boat leaks.\",\"title\":\"{title}\"}}");
        let (said, _) = parse_answer(&answer, &members, &Zone::utc()).expect("an answer");
        said.subject
    };
    assert_eq!(called("The boat that leaks"), "The boat that leaks");
    assert_eq!(called("Quantum banking"), "Talk 3 (and 1 before)");
    let unsaid = "{\"content\":\"Sails tore in a storm.\"}";
    for nothing in ["", "{\"title\":\"x\"}", "{\"content\":\"  \"}", unsaid] {
        assert_eq!(parse_answer(nothing, &members, &Zone::utc()), None, "{nothing}");
    }
}

#[test]
fn the_request_for_a_merge_has_the_common_form() {
    let episodes = [episode(0), episode(3)];
    let told: Vec<KnownEpisode<'_>> = episodes.iter().map(known).collect();
    let prompt = request(&told.iter().collect::<Vec<_>>(), &Zone::utc());
    check_form(&prompt, &expect!["merged_episode@prompt-4 658c92005d11ec1c"]);
    check_example(&prompt);
}

proptest! {
    #[test]
    fn no_member_text_breaks_its_line(texts in prop::collection::vec(super::pages::hostile(), 1..5)) {
        let mut episodes: Vec<Episode> = (0..).map(episode).take(texts.len()).collect();
        for (episode, text) in episodes.iter_mut().zip(texts) {
            episode.summary = text;
        }
        let told: Vec<KnownEpisode<'_>> = episodes.iter().map(known).collect();
        let members: Vec<&KnownEpisode<'_>> = told.iter().collect();
        let one = merged(&members, &Zone::utc()).expect("it tells something");
        prop_assert_eq!(one.body.lines().count(), members.len());
        prop_assert!(!one.body.contains(['<', '[']));
        let user = request(&members, &Zone::utc()).user;
        prop_assert_eq!(user.matches('\n').count(), members.len() + 2);
    }
}
