//! Cases as clusters and skills.

use model::{EntryId, SkillStatus};
use proptest::prelude::*;

use super::{DEPLOY, DEPLOY_AGAIN, known};
use crate::skills::{KnownCase, KnownSkill, Skill, SkillChange, clusters, mark, skill, unsupported};

const TESTS: &str = r#"
    u: Make the parser tests pass
    c: run {"command": "cargo test"} => test result: FAILED
    c: edit_file {"path": "src/parser.rs"} => ok
    c: run {"command": "cargo test"} => test result: ok
    a: They pass.
    u: Thanks
"#;

fn deployments() -> Vec<KnownCase> {
    vec![known("ac_1", 1, DEPLOY), known("ac_2", 2, DEPLOY_AGAIN)]
}

fn standing(id: &str, skill: &Skill, status: SkillStatus) -> KnownSkill {
    KnownSkill {
        id: EntryId::new(id),
        mark: Some(mark(skill)),
        skill: skill.clone(),
        status,
    }
}

fn added(cases: &[KnownCase]) -> Skill {
    let clusters = clusters(cases);
    assert_eq!(clusters.len(), 1, "they are of one kind");
    match skill(&clusters[0], &[]) {
        SkillChange::Add(skill) => skill,
        other => panic!("no skill: {other:?}"),
    }
}

#[test]
fn cases_of_one_kind_are_together_whatever_the_order() {
    let mut cases = deployments();
    cases.push(known("ac_3", 3, TESTS));
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

#[test]
fn two_good_cases_make_a_skill_that_other_agents_can_read() {
    let skill = added(&deployments());
    assert_eq!(skill.name, "deploy-service-staging");
    assert!(
        skill
            .description
            .starts_with("How to: Deploy the search service to staging, please.")
    );
    let steps = "## Steps\n\n1. `read_file` on `deploy/search.yaml`\n2. `run` on `migrate search --env staging`\n\
                 3. `run` on `deploy search --env staging`";
    assert!(skill.content.contains(steps), "{}", skill.content);
    let pitfall = "- `run` on `deploy billing --env staging` failed before.";
    assert!(skill.content.contains(pitfall), "{}", skill.content);
    assert!(
        !skill.content.contains("not migrated"),
        "what a tool said is in no skill: {}",
        skill.content
    );
    assert_eq!(skill.cases, [EntryId::new("ac_1"), EntryId::new("ac_2")]);
}

#[test]
fn one_case_or_bad_ones_make_none() {
    let mut cases = deployments();
    assert_eq!(skill(&clusters(&cases[..1])[0], &[]), SkillChange::None);
    cases[0].quality_percent = 49;
    assert_eq!(skill(&clusters(&cases)[0], &[]), SkillChange::None);
    cases.push(known("ac_3", 3, DEPLOY_AGAIN));
    let skill = added(&cases);
    assert!(
        skill.content.contains("deploy billing --env staging` failed"),
        "{}",
        skill.content
    );
    cases[0].quality_percent = 19;
    assert!(
        !added(&cases).content.contains("billing"),
        "nothing is learnt from the worst"
    );
}

#[test]
fn a_skill_is_brought_up_to_date_and_not_made_twice() {
    let cases = deployments();
    let first = added(&cases);
    let there = [standing("sk_1", &first, SkillStatus::Draft)];
    assert_eq!(skill(&clusters(&cases)[0], &there), SkillChange::None);
    let mut more = cases;
    more.push(known("ac_3", 3, &DEPLOY_AGAIN.replace("search", "mail")));
    match skill(&clusters(&more)[0], &there) {
        SkillChange::Update(id, newer) => {
            assert_eq!((id.as_str(), &newer.name), ("sk_1", &first.name));
            assert!(newer.content.contains("mail"), "{}", newer.content);
        }
        other => panic!("no update: {other:?}"),
    }
}

#[test]
fn what_a_person_changed_or_judged_stays() {
    let cases = deployments();
    let skill_of = |standing: KnownSkill| {
        let mut more = cases.clone();
        more.push(known("ac_3", 3, DEPLOY_AGAIN));
        (
            skill(&clusters(&more)[0], std::slice::from_ref(&standing)),
            unsupported(&[], &[standing]),
        )
    };
    let ours = standing("sk_1", &added(&cases), SkillStatus::Draft);
    let (change, alone) = skill_of(ours.clone());
    assert!(matches!(change, SkillChange::Update(..)), "{change:?}");
    assert_eq!(alone, [EntryId::new("sk_1")]);
    let mut edited = ours.clone();
    edited.skill.content.push_str("\nAsk Bob first.");
    let unmarked = KnownSkill {
        mark: None,
        ..ours.clone()
    };
    let [approved, rejected] = [SkillStatus::Approved, SkillStatus::Rejected].map(|status| KnownSkill {
        status,
        ..ours.clone()
    });
    for theirs in [edited, unmarked, approved, rejected] {
        assert_eq!(skill_of(theirs), (SkillChange::None, Vec::new()));
    }
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    let cases = deployments();
    let mut other = added(&cases);
    other.cases = vec![EntryId::new("ac_9")];
    let there = [standing("sk_9", &other, SkillStatus::Approved)];
    let change = skill(&clusters(&cases)[0], &there);
    assert!(
        matches!(&change, SkillChange::Add(skill) if skill.name == "deploy-service-staging-2"),
        "{change:?}"
    );
}

#[test]
fn a_request_in_another_script_has_a_name_from_its_tools() {
    let chinese = |talk: &str| {
        talk.replace(
            "Deploy the search service to staging, please.",
            "请部署搜索服务到测试环境",
        )
    };
    let cases = [
        known("ac_1", 1, &chinese(DEPLOY_AGAIN)),
        known("ac_2", 2, &chinese(DEPLOY_AGAIN)),
    ];
    assert_eq!(added(&cases).name, "read-file-run");
}

proptest! {
    #[test]
    fn any_cases_give_skills_that_fit_the_convention(
        texts in proptest::collection::vec((".{0,60}", ".{0,200}", ".{0,80}", "[a-z_]{1,10}", 0u8..=100), 2..6),
    ) {
        let cases: Vec<KnownCase> = (0..).zip(&texts).map(|(n, (intent, approach, insight, tool, quality))| KnownCase {
            id: EntryId::new(format!("ac_{n}")),
            time: model::Timestamp::from_millis(n),
            intent: intent.clone(),
            approach: approach.clone(),
            insight: insight.clone(),
            tools: vec![tool.clone()],
            quality_percent: *quality,
        }).collect();
        for cluster in clusters(&cases) {
            if let SkillChange::Add(skill) = skill(&cluster, &[]) {
                let is_name = skill.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
                prop_assert!(is_name && (1..=64).contains(&skill.name.len()) && !skill.name.ends_with('-'));
                prop_assert!(skill.description.chars().count() <= 1_024 && !skill.description.contains('\n'));
                prop_assert!(skill.content.lines().filter(|line| !line.trim().is_empty()).count() >= 5);
                prop_assert!(!skill.content.contains('<') && skill.confidence_percent <= 95);
            }
        }
    }
}
