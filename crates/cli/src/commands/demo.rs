//! `quipu demo`: asks a bundled conversation three questions, without a key or a network; its memory stays on disk for a look.

use std::path::{Path, PathBuf};

use gateway::wire::search::When;
use gateway::wire::{SearchData, SearchRequest};
use model::{Name, Scope};
use ports::Ids;

use super::import::{Imported, on, settle, stream};
use super::interrupt::unless_interrupted;
use super::{Desk, runtime};
use crate::api::Api;
use crate::clock::RandomIds;
use crate::environment;
use crate::error::{Exit, Failure};
use crate::import::{Defaults, sources};
use crate::output::{self, Look, say};
use crate::progress;
use crate::world::World;

const CONVERSATION: &str = include_str!("../../assets/demo.jsonl");

/// The user of the demo's memory.
const WHO: &str = "maya";

/// Questions, each with the date that its answer is for; None: now.
const QUESTIONS: [(&str, Option<&str>); 3] = [
    ("What is the dog called?", None),
    ("Where is Maya's home?", None),
    ("Where is Maya's home?", Some("2025-06-01")),
];

pub(super) fn demo(desk: &Desk, keep: Option<PathBuf>) -> Result<Exit, Failure> {
    if desk.json {
        return Err(Failure::usage("the demo does not support --json").hint("leave out --json"));
    }
    let new = || std::env::temp_dir().join(format!("quipu-demo-{:016x}", RandomIds.next()));
    let root = keep.unwrap_or_else(new);
    desk.standing
        .now(format!("what is stored is in {}", root.display()));
    runtime()?.block_on(unless_interrupted(desk, play(desk, &root)))
}

async fn play(desk: &Desk, root: &Path) -> Result<Exit, Failure> {
    let api = Api::here(World::open(root, &desk.loaded.config, desk.open_index, false).await?);
    let imported = remember(desk, root, &api).await?;
    let stored = imported.summary();
    say!("Quipu stored {stored} between {WHO} and her assistant.")?;
    for (question, as_of) in QUESTIONS {
        let then = as_of.map_or_else(String::new, |day| format!(" As of {day}:"));
        say!("\n?{then} {question}")?;
        let request = SearchRequest {
            user_id: Some(WHO.to_owned()),
            top_k: 1,
            include_messages: 1,
            as_of: as_of.map(|day| When::Text(day.to_owned())),
            ..SearchRequest::new(question)
        };
        let mut found: SearchData = api.post("/memory/search", &request).await?;
        // The answer is the messages themselves, with facts that add to them or no longer hold.
        found.episodes.clear();
        let is_said = |id: &String| found.messages.iter().any(|message| message.id == *id);
        found.facts.retain(|fact| fact.message_ids.iter().any(is_said));
        let look = Look {
            query: question,
            ..Look::default()
        };
        output::found(&found, look)?;
    }
    api.close().await;
    let (program, root) = (environment::program()?, root.display());
    let program = program.display();
    say!("\nThe memory is Markdown that you can read and edit: {root}/memory")?;
    say!("\nNext, look at it in a browser:\n  {program} serve --root {root}")?;
    say!("Then store something of your own, in ~/.quipu:\n  {program} add --flush \"I live in Porto.\"")?;
    say!("  {program} search \"Where do I live?\"")?;
    Ok(Exit::Ok)
}

async fn remember(desk: &Desk, root: &Path, api: &Api) -> Result<Imported, Failure> {
    let file = root.join("conversation.jsonl");
    std::fs::write(&file, CONVERSATION)?;
    let user = Name::parse(WHO).expect("a name of the demo's own");
    let defaults = Defaults::new(api, Scope::default(), user);
    let mut imported = Imported::default();
    let bar = progress::bytes(desk.watched, "reading", CONVERSATION.len() as u64);
    let sources = sources(&[file])?;
    let read = &mut on(&bar);
    stream(api, sources, defaults, read, &mut imported).await?;
    bar.finish_and_clear();
    settle(desk, api, &mut imported).await?;
    Ok(imported)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::commands::tests::desk;
    use crate::output::tests::SAID;

    #[tokio::test]
    async fn each_of_three_questions_gets_an_answer_and_then_the_next_step() {
        let root = TempDir::new().expect("a folder");
        SAID.take();
        let exit = play(&desk(root.path(), &[]), root.path()).await;
        assert_eq!(exit.expect("it runs"), Exit::Ok);
        let said = SAID.take();
        let [_, dog, home, then, ..] = &*said.split("\n? ").collect::<Vec<_>>() else {
            panic!("three questions: {said}");
        };
        assert!(dog.contains(" 1. ") && dog.contains("Biscuit"), "{dog}");
        assert!(home.contains("Porto") && !home.contains("Lisbon"), "{home}");
        assert!(
            then.contains("Lisbon") && !then.contains("home is in Porto"),
            "{then}"
        );
        let memory = format!("{}/memory", root.path().display());
        assert!(then.contains(&memory) && then.contains("serve --root"), "{then}");
        assert!(said.lines().count() < 40, "{said}");
    }
}
