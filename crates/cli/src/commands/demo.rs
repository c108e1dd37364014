//! `quipu demo`: the whole path on a bundled conversation, in a folder of its own, with no key and no network.

use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::ProgressBar;
use model::{Name, Scope};
use ports::Ids;
use text::counted;
use wire::search::When;
use wire::{SearchData, SearchRequest};

use super::import::{Imported, on, settle, stream};
use super::interrupt::unless_interrupted;
use super::upkeep::rebuilt;
use super::{Desk, runtime};
use crate::api::Api;
use crate::args::{DemoArgs, FormatArg};
use crate::clock::RandomIds;
use crate::error::{Exit, Failure};
use crate::import::{Defaults, sources};
use crate::output::{self, Look, say};
use crate::progress;
use crate::world::World;

const CONVERSATION: &str = include_str!("../../assets/demo.jsonl");

/// When the demo's questions are asked: shortly after its last conversation.
const ASKED_AT: &str = "2026-02-20T12:00:00Z";

/// A question of the demo: the owner, the query, and the time.
struct Question {
    about: &'static str,
    text: &'static str,
    as_of: Option<&'static str>,
}

const fn question(about: &'static str, text: &'static str) -> Question {
    Question {
        about,
        text,
        as_of: None,
    }
}

const QUESTIONS: [Question; 6] = [
    question("maya", "What is the dog called?"),
    question("maya", "Which train did we book to Porto, and which seat?"),
    question("jonas", "Which injury must the training plan respect?"),
    question("maya", "What happened last December?"),
    question("maya", "Where does Maya live?"),
    Question {
        as_of: Some("2025-06-01"),
        ..question("maya", "Where does Maya live?")
    },
];

pub(super) fn demo(desk: &Desk, args: &DemoArgs) -> Result<Exit, Failure> {
    if desk.json {
        return Err(Failure::usage("the demo does not support --json").hint("leave out --json"));
    }
    let root = args
        .keep
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("quipu-demo-{:016x}", RandomIds.next())));
    if args.keep.is_none() {
        desk.standing.now("nothing is left of the demo".to_owned());
    }
    // Nothing writes into the folder once the runtime is gone.
    let result = runtime()?.block_on(unless_interrupted(desk, play(desk, &root)));
    if args.keep.is_none() {
        std::fs::remove_dir_all(&root).ok();
    } else {
        say!("\nkept in {}", root.display())?;
    }
    result
}

async fn play(desk: &Desk, root: &Path) -> Result<Exit, Failure> {
    heading("1. Store nine conversations of two people, a year apart")?;
    let api = Api::here(World::open(root, &desk.loaded.config, desk.open_index).await?);
    remember(desk, root, &api).await?;

    heading("2. List the written files, and show one")?;
    let memory = root.join("memory");
    let files = tree(&memory)?;
    for file in &files {
        say!("  {}", file.display())?;
    }
    if let Some(file) = files
        .iter()
        .find(|file| file.to_string_lossy().contains("maya/episodes/2025-03"))
    {
        say!("\n--- {}", file.display())?;
        say!("{}", std::fs::read_to_string(memory.join(file))?)?;
    }

    heading("3. Search, and show the reason for each hit")?;
    let mut answers = Vec::new();
    for question in &QUESTIONS {
        answers.push(ask(&api, question).await?);
    }

    heading("4. Edit a file by hand, and find the edit")?;
    edit_by_hand(&api, &memory, &files).await?;
    let tea = question("maya", "Which tea does Maya drink?");
    answers.push(ask(&api, &tea).await?);
    api.close().await;

    heading("5. Delete the index, start again, and get the same answers")?;
    std::fs::remove_dir_all(root.join("index"))?;
    let api = Api::here(World::open(root, &desk.loaded.config, desk.open_index).await?);
    let bar = progress::bar(desk.watched, "rebuilding", 0);
    let synced = rebuilt(&api, &bar).await?;
    bar.finish_and_clear();
    say!("rebuilt from {}", counted(synced.files, "file", "files"))?;
    let mut same = 0;
    for (question, before) in QUESTIONS.iter().chain([&tea]).zip(&answers) {
        let after = search(&api, question).await?;
        same += usize::from(ids(&after) == ids(before));
    }
    say!("{same} of {} answers are the same", answers.len())?;
    api.close().await;
    if same < answers.len() {
        return Err(anyhow::anyhow!("an answer changed with the index").into());
    }
    Ok(Exit::Ok)
}

async fn remember(desk: &Desk, root: &Path, api: &Api) -> Result<(), Failure> {
    let file = root.join("conversation.jsonl");
    std::fs::write(&file, CONVERSATION)?;
    let user = Name::parse("maya").expect("a name of the demo's own");
    let defaults = Defaults::new(api, Scope::default(), user);
    let started = api.clock.elapsed();
    let mut imported = Imported::default();
    let bar: ProgressBar = progress::bytes(desk.watched, "reading", CONVERSATION.len() as u64);
    let sources = sources(&[file])?;
    stream(
        api,
        sources,
        FormatArg::Jsonl,
        defaults,
        &mut on(&bar),
        &mut imported,
    )
    .await?;
    bar.finish_and_clear();
    settle(desk, api, &mut imported).await?;
    let took = api.clock.elapsed().saturating_sub(started);
    say!(
        "{} of {} in {} ms, written and searchable",
        counted(imported.messages, "message", "messages"),
        counted(imported.conversations, "conversation", "conversations"),
        took.as_millis()
    )
}

/// Every file below a folder, relative to it, sorted.
fn tree(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.extend(path.strip_prefix(folder).map(Path::to_owned));
            }
        }
    }
    found.sort();
    Ok(found)
}

async fn search(api: &Api, question: &Question) -> Result<SearchData, Failure> {
    let at = |text: &str| Some(When::Text(text.to_owned()));
    let request = SearchRequest {
        user_id: Some(question.about.to_owned()),
        top_k: 2,
        include_messages: 1,
        as_of: question.as_of.and_then(at),
        query_time: at(ASKED_AT),
        explain: true,
        ..SearchRequest::new(question.text)
    };
    api.post("/memory/search", &request).await
}

async fn ask(api: &Api, question: &Question) -> Result<SearchData, Failure> {
    let as_of = question
        .as_of
        .map(|at| format!(", as of {at}"))
        .unwrap_or_default();
    say!("\n? {} ({}{as_of})", question.text, question.about)?;
    let found = search(api, question).await?;
    let look = Look {
        query: question.text,
        explain: true,
        ..Look::default()
    };
    output::found(&found, look)?;
    Ok(found)
}

fn ids(found: &SearchData) -> Vec<&str> {
    let episodes = found.episodes.iter().map(|episode| &*episode.id);
    let facts = found.facts.iter().map(|fact| &*fact.id);
    let messages = found.messages.iter().map(|message| &*message.id);
    episodes.chain(facts).chain(messages).collect()
}

/// How long a hand edit may take to be found; it is seen in well under a second.
const EDIT_SECONDS_MAX: u64 = 10;

async fn edit_by_hand(api: &Api, memory: &Path, files: &[PathBuf]) -> Result<(), Failure> {
    let file = files
        .iter()
        .find(|file| file.to_string_lossy().contains("maya/facts"));
    let file = file.ok_or_else(|| anyhow::anyhow!("no facts of Maya were written"))?;
    let by_hand = "\n## Maya drinks gyokuro tea in the afternoon\n\nShe buys it in Rua de Santa Catarina.\n";
    let path = memory.join(file);
    let text = std::fs::read_to_string(&path)?;
    std::fs::write(&path, text + by_hand)?;
    say!("added to {}:\n{by_hand}", file.display())?;
    let gyokuro = question("maya", "gyokuro");
    let started = api.clock.elapsed();
    let deadline = started + Duration::from_secs(EDIT_SECONDS_MAX);
    loop {
        let found = search(api, &gyokuro).await?;
        let facts = found.facts.iter();
        if facts
            .into_iter()
            .any(|fact| fact.subject.contains("gyokuro") || fact.content.contains("gyokuro"))
        {
            let took = api.clock.elapsed().saturating_sub(started);
            return say!("found {} ms after it was saved", took.as_millis());
        }
        if api.clock.elapsed() > deadline {
            return Err(anyhow::anyhow!("the edit was not found within {EDIT_SECONDS_MAX} seconds").into());
        }
        api.clock.sleep(Duration::from_millis(20)).await;
    }
}

fn heading(text: &str) -> Result<(), Failure> {
    say!("\n=== {text}\n")
}
