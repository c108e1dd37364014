//! A `House` with the page, and the requests of a browser.
//!
//! Owns: requests of a browser. Never: expectations.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use gateway::{Client, GatewaySettings};
use model::{Entry, EntryId, EntryKind, MessageId, Name, Origin, Owner, Scope, Timestamp, Zone};
use page::{ImportJob, Importer, Importing};
use serde_json::json;

use crate::house::{Ask, House, Reply, SAID, TEA, get, sent};

/// Every view, by its address.
pub(crate) const VIEWS: [&str; 10] = [
    "/",
    "/page/memories",
    "/page/memories?q=tea",
    "/page/forget?all=1&who=default/default/ada",
    "/page/given",
    "/page/conversations",
    "/page/skills",
    "/page/documents",
    "/page/import",
    "/page/sign-in",
];

pub(crate) struct Stage {
    pub(crate) house: House,
    router: Router,
}

/// An importer that adds one message for each line of the file.
#[derive(Debug)]
struct Lines;

impl Importer for Lines {
    fn folder(&self, number: u64) -> std::io::Result<PathBuf> {
        let name = format!("quipu-page-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    fn import(&self, job: ImportJob) -> Importing {
        Box::pin(async move {
            let text = std::fs::read_to_string(&job.file).map_err(|error| error.to_string())?;
            let messages: Vec<_> = (0..)
                .zip(text.lines())
                .map(|(at, line): (i64, &str)| {
                    json!({"sender_id": job.user, "role": "user", "timestamp": SAID + at, "content": line, "message_id": line})
                })
                .collect();
            let count = messages.len();
            let body = json!({"session_id": "imported", "messages": messages, "wait": true,
                "accept_forgotten": job.accept_forgotten});
            let reply = job
                .client
                .post("/api/v2/memory/add", body.to_string().into_bytes())
                .await;
            let reply = reply.map_err(|error| error.to_string())?;
            let mut progress = job.progress.lock();
            progress.messages = count;
            let answer: serde_json::Value = serde_json::from_slice(&reply.body).unwrap_or_default();
            let counted =
                |key| usize::try_from(answer["data"][key].as_u64().unwrap_or_default()).expect("few");
            (progress.forgotten, progress.restored) = (counted("forgotten"), counted("restored"));
            if reply.status == 200 {
                Ok(())
            } else {
                Err(format!("status {}", reply.status))
            }
        })
    }
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::with(GatewaySettings::default()).await
    }

    pub(crate) async fn with(settings: GatewaySettings) -> Self {
        let house = House::with(settings, Zone::utc()).await;
        let page = page::routes(Client::here(&house.gateway), None, Arc::new(Lines));
        let router = house.gateway.clone().with_page(page).router();
        Self { house, router }
    }

    /// A stage with data for every view.
    pub(crate) async fn furnished() -> Self {
        let stage = Self::new().await;
        stage.house.remember("tea", &TEA).await;
        stage
            .house
            .store("tea.md", b"# Tea\n\n## Green\n\nSencha is green.\n", &[])
            .await;
        stage.skill().await;
        let message = json!({"role": "user", "content": "What is for dessert?"});
        let append = json!({"user_id": "ada", "conversation_id": "kitchen", "messages": [message]});
        stage.house.post("/api/v2/context/append", &append).await.data();
        stage
    }

    async fn skill(&self) {
        let owner = Owner::agent(Name::parse("coder").expect("a name"));
        let (id, whose) = (EntryId::new("sk_1"), (Scope::default(), owner.clone()));
        let said = Timestamp::from_millis(SAID);
        let skill = Entry {
            author: Some("practice/1".to_owned()),
            sources: vec![MessageId::new("ac_1")],
            labels: vec!["draft".to_owned()],
            confidence_percent: Some(75),
            subject: "deploy".to_owned(),
            summary: "The deploy needs a migration first.".to_owned(),
            body: "1. `run` on `deploy billing --env staging`".to_owned(),
            ..Entry::new(id, EntryKind::Skill, whose, said, Origin::Assistant)
        };
        let case = Entry {
            id: EntryId::new("ac_1"),
            kind: EntryKind::Case,
            session: Some(model::SessionId::new("s1")),
            ..skill.clone()
        };
        for entry in [case, skill] {
            let curate = memory::Curate::new(&Scope::default(), &owner, vec![entry], Vec::new());
            self.house.engine.curate(curate).await.expect("it is put");
        }
    }

    /// The API id of the first memory that contains the words.
    pub(crate) async fn id_of(&self, words: &str) -> String {
        let list = json!({"user_id": "ada", "memory_type": "atomic_fact"});
        let listed = self.house.post("/api/v2/memory/get", &list).await.data();
        let facts = listed["facts"].as_array().expect("facts").iter();
        let mut found = facts
            .filter(|fact| fact["content"].as_str().is_some_and(|text| text.contains(words)))
            .map(|fact| fact["id"].as_str().expect("an id").to_owned());
        found
            .next_back()
            .unwrap_or_else(|| panic!("no fact with {words}: {listed}"))
    }

    /// Adds a line to the profile; returns its API id.
    pub(crate) async fn statement(&self, category: &str, description: &str) -> String {
        let add = json!({
            "action": "add", "type": "explicit_info",
            "data": {"category": category, "description": description},
        });
        let edit = json!({"user_id": "ada", "operations": [add]});
        let done = self.house.post("/api/v2/memory/edit", &edit).await.data();
        let id = done["results"][0]["new_item_id"].as_str();
        id.unwrap_or_else(|| panic!("{done}")).to_owned()
    }

    /// Stores an upcoming event of `ada`, `days` days after [`SAID`].
    pub(crate) async fn event(&self, id: &str, days: i64) {
        let at = |days: i64| Some(Timestamp::from_millis(SAID + days * 86_400_000));
        let owner = Owner::user(Name::parse("ada").expect("a name"));
        let (id, whose) = (EntryId::new(id), (Scope::default(), owner.clone()));
        let said = Timestamp::from_millis(SAID);
        let event = Entry {
            valid_from: at(days),
            valid_until: at(days + 1),
            body: "Ada flies to Rome.".to_owned(),
            ..Entry::new(id, EntryKind::Foresight, whose, said, Origin::User)
        };
        let curate = memory::Curate::new(&Scope::default(), &owner, vec![event], Vec::new());
        self.house.engine.curate(curate).await.expect("it is put");
    }

    /// The text of a fact.
    pub(crate) async fn text_of(&self, id: &str) -> String {
        let path = format!("/api/v2/memories/{id}?user_id=ada");
        let data = self.house.get(&path).await.data();
        data["facts"][0]["content"].as_str().expect("a text").to_owned()
    }

    /// Every file of the vault with its bytes.
    pub(crate) fn files(&self) -> Vec<(String, Option<Vec<u8>>)> {
        let paths = self.house.vault.paths().into_iter();
        paths
            .map(|path| (path.to_string(), self.house.vault.bytes(&path)))
            .collect()
    }

    pub(crate) async fn ask(&self, ask: Ask) -> Reply {
        sent(&self.router, ask.request()).await
    }

    pub(crate) async fn view(&self, path: &str) -> Reply {
        self.ask(get(path)).await
    }

    /// The HTML of an existing view.
    pub(crate) async fn html(&self, path: &str) -> String {
        let reply = self.view(path).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
        reply.text
    }

    /// Posts a form as the page itself does.
    pub(crate) async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.ask(form(path, fields)).await
    }
}

/// A form as a browser posts it from the page.
pub(crate) fn form(path: &str, fields: &[(&str, &str)]) -> Ask {
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{name}={}", encoded(value)))
        .collect();
    Ask {
        method: "POST",
        ..get(path)
    }
    .header("content-type", "application/x-www-form-urlencoded")
    .header("origin", "http://localhost")
    .header("sec-fetch-site", "same-origin")
    .bytes(fields.join("&"))
}

pub(crate) fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        write!(all, "%{byte:02X}").expect("a string takes all");
        all
    })
}

/// Every tag of an HTML text, without its brackets.
pub(crate) fn tags(html: &str) -> impl Iterator<Item = &str> {
    html.split('<').skip(1).filter_map(|rest| rest.split('>').next())
}
