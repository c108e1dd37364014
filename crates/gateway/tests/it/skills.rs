//! Cases and skills of an agent over HTTP: listed for people, found after a person's approval, and visible to one
//! tenant only.

use model::{Entry, EntryId, EntryKind, MessageId, Name, Origin, Owner, Scope, Timestamp, Zone};
use serde_json::{Value, json};

use crate::house::{House, SAID, post, scope, tokens};

const DEPLOY: &str = "default/default/agents/coder/skills/deploy/SKILL.md";

fn entry(kind: EntryKind, id: &str, subject: &str) -> Entry {
    let owner = Owner::agent(Name::parse("coder").expect("a name"));
    let (id, whose) = (EntryId::new(id), (Scope::default(), owner));
    let said = Timestamp::from_millis(SAID);
    Entry {
        session: (kind == EntryKind::Case).then(|| model::SessionId::new("s1")),
        author: Some("practice/1".to_owned()),
        sources: vec![MessageId::new("ac_1")],
        labels: vec!["draft".to_owned()],
        confidence_percent: Some(75),
        subject: subject.to_owned(),
        summary: "The deploy needs a migration first.".to_owned(),
        body: "1. `run` on `deploy billing --env staging`".to_owned(),
        ..Entry::new(id, kind, whose, said, Origin::Assistant)
    }
}

/// Gives an agent one case and one draft of a skill.
async fn learnt(house: &House, scope: &Scope) {
    let case = entry(EntryKind::Case, "ac_1", "Deploy the billing service to staging.");
    let skill = entry(EntryKind::Skill, "sk_1", "deploy");
    for mut entry in [case, skill] {
        entry.scope = scope.clone();
        let owner = entry.owner.clone();
        let curate = memory::Curate::new(scope, &owner, vec![entry], Vec::new());
        house.engine.curate(curate).await.expect("it is put");
    }
}

async fn search(house: &House) -> Value {
    let ask = json!({"agent_id": "coder", "query": "deploy billing staging"});
    house.post("/api/v1/memory/search", &ask).await.data()
}

async fn listed(house: &House, kind: &str) -> Value {
    let ask = json!({"agent_id": "coder", "memory_type": kind});
    house.post("/api/v1/memory/get", &ask).await.data()
}

#[tokio::test]
async fn cases_and_skills_have_the_documented_form() {
    let house = House::new().await;
    learnt(&house, &Scope::default()).await;
    let cases = listed(&house, "agent_case").await;
    assert_eq!((&cases["total_count"], &cases["count"]), (&json!(1), &json!(1)));
    let case = json!({
        "id": "coder_ac_1", "agent_id": "coder", "app_id": "default", "project_id": "default", "session_id": "s1",
        "task_intent": "Deploy the billing service to staging.",
        "approach": "1. `run` on `deploy billing --env staging`", "quality_score": 0.75,
        "key_insight": "The deploy needs a migration first.", "timestamp": "2024-05-08T13:56:00Z",
        "message_ids": ["ac_1"], "path": "default/default/agents/coder/cases/2024-05-08.md",
    });
    assert_eq!(cases["agent_cases"], json!([case]));
    let skills = listed(&house, "agent_skill").await;
    let skill = json!({
        "id": "coder_sk_1", "agent_id": "coder", "app_id": "default", "project_id": "default", "name": "deploy",
        "description": "The deploy needs a migration first.",
        "content": "1. `run` on `deploy billing --env staging`", "confidence": 0.75, "maturity_score": 0.0,
        "source_case_ids": ["coder_ac_1"], "status": "draft", "path": DEPLOY,
    });
    assert_eq!(skills["agent_skills"], json!([skill]));
    let one = house.get("/api/v1/memories/coder_sk_1").await.data();
    assert_eq!(one["agent_skills"], json!([skill]));
}

#[tokio::test]
async fn no_search_finds_a_draft_before_a_person_approves_it() {
    let house = House::new().await;
    learnt(&house, &Scope::default()).await;
    let found = search(&house).await;
    assert_eq!(found["agent_cases"][0]["id"], "coder_ac_1");
    assert!(found["agent_cases"][0]["score"].is_number(), "{found}");
    for array in ["agent_skills", "facts", "episodes"] {
        assert_eq!(found[array], json!([]), "{array}");
    }
    let path = "/api/v1/skills/coder_sk_1";
    for (verb, status, is_found) in [
        ("approve", "approved", true),
        ("reject", "rejected", false),
        ("approve", "approved", true),
    ] {
        let judged = house.post(&format!("{path}/{verb}"), &Value::Null).await.data();
        assert_eq!(judged["status"], status);
        let found = search(&house).await;
        assert_eq!(found["agent_skills"][0]["name"] == "deploy", is_found, "{found}");
    }
    let file = String::from_utf8(house.vault.bytes(DEPLOY).expect("a file")).expect("text");
    assert!(
        file.contains("\nstatus: approved\n") && file.contains("author: practice/1"),
        "{file}"
    );
}

#[tokio::test]
async fn a_person_can_approve_a_skill_in_its_file() {
    let house = House::new().await;
    learnt(&house, &Scope::default()).await;
    let file = String::from_utf8(house.vault.bytes(DEPLOY).expect("a file")).expect("text");
    house
        .vault
        .write(DEPLOY, file.replace("status: draft", "status: approved"));
    house.engine.sync().await.expect("synced");
    assert_eq!(search(&house).await["agent_skills"][0]["maturity_score"], 1.0);
    // A broken front matter is reported, and the former skill is kept.
    house.vault.write(DEPLOY, "---\nstatus: [\n---\n");
    house.engine.sync().await.expect("synced");
    assert_eq!(
        house.engine.status().await.expect("a status").broken_files.len(),
        1
    );
}

#[tokio::test]
async fn only_skills_of_the_tenant_can_be_approved() {
    let house = House::with(tokens(), Zone::utc()).await;
    learnt(&house, &scope("a")).await;
    let approve = |id: &str| post(&format!("/api/v2/skills/{id}/approve"), &Value::Null);
    for (id, token) in [("coder_sk_1", "b"), ("coder_ac_1", "a"), ("coder_sk_2", "a")] {
        let reply = house.ask(approve(id).token(token)).await;
        assert_eq!(reply.error().1, "NOT_FOUND", "{id}");
    }
    let foreign = post(
        "/api/v1/skills/coder_sk_1/approve?app_id=a&project_id=p",
        &Value::Null,
    );
    assert_eq!(house.ask(foreign.token("b")).await.status.as_u16(), 403);
    let own = house.ask(approve("coder_sk_1").token("a")).await.data();
    assert_eq!(own["status"], "approved");
}

#[tokio::test]
async fn a_deleted_session_or_skill_leaves_no_skill_file() {
    let house = House::new().await;
    learnt(&house, &Scope::default()).await;
    let session = json!({"session_id": "s1"});
    assert_eq!(
        house.post("/api/v1/memory/delete", &session).await.data()["count"],
        2
    );
    assert_eq!(listed(&house, "agent_case").await["count"], 0);
    assert_eq!(house.vault.bytes(DEPLOY), None, "a draft goes with a case of it");
    learnt(&house, &Scope::default()).await;
    let by_id = json!({"ids": ["coder_sk_1"], "memory_type": "agent_skill"});
    let deleted = house.post("/api/v1/memory/delete_by_ids", &by_id).await.data();
    assert_eq!(deleted["count"], 1);
    assert_eq!(house.vault.bytes(DEPLOY), None, "a skill's file goes with it");
}
