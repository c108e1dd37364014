//! `quipu demo`: the whole path on a bundled conversation, in a folder of its own, with no key and no network.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{Found, Method, Search};
use indicatif::ProgressBar;
use model::{Name, Owner, Scope};
use ports::Ids;

use super::import::{Imported, stream};
use super::{Desk, runtime};
use crate::args::{DemoArgs, FormatArg, ImportArgs, ScopeArgs};
use crate::clock::RandomIds;
use crate::error::{Exit, Failure};
use crate::import::Defaults;
use crate::output::{self, line};
use crate::progress;
use crate::world::World;

const CONVERSATION: &str = include_str!("../../assets/demo.jsonl");

/// When the demo's questions are asked: shortly after its last conversation.
const ASKED_AT: &str = "2026-02-20T12:00:00Z";

/// A question of the demo: who is asked about, what, and as of when.
struct Question {
    about: &'static str,
    text: &'static str,
    as_of: Option<&'static str>,
}

const QUESTIONS: [Question; 6] = [
    Question {
        about: "maya",
        text: "What is the dog called?",
        as_of: None,
    },
    Question {
        about: "maya",
        text: "Which train did we book to Porto, and which seat?",
        as_of: None,
    },
    Question {
        about: "jonas",
        text: "Which injury must the training plan respect?",
        as_of: None,
    },
    Question {
        about: "maya",
        text: "What happened last December?",
        as_of: None,
    },
    Question {
        about: "maya",
        text: "Where does Maya live?",
        as_of: None,
    },
    Question {
        about: "maya",
        text: "Where does Maya live?",
        as_of: Some("2025-06-01"),
    },
];

pub(super) fn demo(desk: &Desk, args: &DemoArgs) -> Result<Exit, Failure> {
    let root = args
        .keep
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("quipu-demo-{:016x}", RandomIds.next())));
    let result = runtime()?.block_on(play(desk, &root));
    if args.keep.is_none() {
        std::fs::remove_dir_all(&root).ok();
    } else {
        line(format_args!("\nkept in {}", root.display()))?;
    }
    result.map(|()| Exit::Ok)
}

async fn play(desk: &Desk, root: &Path) -> Result<(), Failure> {
    heading("1. Remember nine conversations of two people, a year apart")?;
    let world = World::open(root, &desk.loaded.config, desk.open_index).await?;
    remember(desk, root, &world).await?;

    heading("2. What was written, and one file of it")?;
    let memory = root.join("memory");
    let files = tree(&memory)?;
    for file in &files {
        line(format_args!("  {}", file.display()))?;
    }
    if let Some(file) = files
        .iter()
        .find(|file| file.to_string_lossy().contains("maya/episodes/2025-03"))
    {
        line(format_args!("\n--- {}", file.display()))?;
        line(format_args!("{}", std::fs::read_to_string(memory.join(file))?))?;
    }

    heading("3. Ask, and see why each answer was found")?;
    let mut answers = Vec::new();
    for question in &QUESTIONS {
        answers.push(ask(&world, question).await?);
    }

    heading("4. Edit a file by hand, and find the edit")?;
    edit_by_hand(&world, &memory, &files).await?;
    let tea = Question {
        about: "maya",
        text: "Which tea does Maya drink?",
        as_of: None,
    };
    answers.push(ask(&world, &tea).await?);
    world.engine.shutdown().await;
    drop(world);

    heading("5. Delete the index, start again, and get the same answers")?;
    std::fs::remove_dir_all(root.join("index"))?;
    let world = World::open(root, &desk.loaded.config, desk.open_index).await?;
    let bar = progress::bar(desk.watched, "rebuilding", 0);
    let rebuilt = world.engine.rebuild(Some(progress::listen(&bar))).await?;
    bar.finish_and_clear();
    line(format_args!("rebuilt from {} files", rebuilt.files))?;
    let mut same = 0;
    for (question, before) in QUESTIONS.iter().chain([&tea]).zip(&answers) {
        let after = search(&world, question).await?;
        same += usize::from(ids(&after) == ids(before));
    }
    line(format_args!("{same} of {} answers are the same", answers.len()))?;
    world.engine.shutdown().await;
    if same < answers.len() {
        return Err(anyhow::anyhow!("an answer changed with the index").into());
    }
    Ok(())
}

async fn remember(desk: &Desk, root: &Path, world: &World) -> Result<(), Failure> {
    let file = root.join("conversation.jsonl");
    std::fs::write(&file, CONVERSATION)?;
    let args = ImportArgs {
        file,
        format: FormatArg::Jsonl,
        user: "maya".to_owned(),
        scope: ScopeArgs {
            app: "default".to_owned(),
            project: "default".to_owned(),
        },
    };
    let defaults = Defaults {
        scope: Scope::default(),
        user: Name::parse("maya").expect("a name of the demo's own"),
        now: world.clock.now(),
        zone: world.zone.clone(),
        name: "demo".to_owned(),
    };
    let started = world.clock.elapsed();
    let mut imported = Imported::default();
    let bar: ProgressBar = progress::bytes(desk.watched, "reading", CONVERSATION.len() as u64);
    stream(&world.engine, &args, defaults, &bar, &mut imported).await?;
    bar.finish_and_clear();
    super::import::settle(desk, &world.engine).await?;
    let took = world.clock.elapsed().saturating_sub(started);
    line(format_args!(
        "{} messages of {} conversations in {} ms, written and searchable",
        imported.messages,
        imported.conversations,
        took.as_millis()
    ))
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

async fn search(world: &World, question: &Question) -> Result<Found, Failure> {
    let at = |text: &str| world.zone.parse(text).expect("a time of the demo's own");
    let search = Search {
        scope: Scope::default(),
        owner: Owner::user(Name::parse(question.about).expect("a name of the demo's own")),
        query: question.text.to_owned(),
        method: Method::Hybrid,
        memories_max: 2,
        messages_max: 1,
        filter: None,
        as_of: question.as_of.map(at),
        asked_at: Some(at(ASKED_AT)),
        score_min: 0.0,
        tokens_max: None,
    };
    Ok(world.engine.search(search).await?)
}

async fn ask(world: &World, question: &Question) -> Result<Found, Failure> {
    let as_of = question
        .as_of
        .map(|at| format!(", as of {at}"))
        .unwrap_or_default();
    line(format_args!("\n? {} ({}{as_of})", question.text, question.about))?;
    let found = search(world, question).await?;
    output::found(&found, &world.zone, true)?;
    Ok(found)
}

fn ids(found: &Found) -> Vec<String> {
    let hits = found.memories.iter().chain(&found.messages);
    hits.map(|hit| hit.doc.key.id.to_string()).collect()
}

/// How long a hand edit may take to be found; it is seen in well under a second.
const EDIT_SECONDS_MAX: u64 = 10;

async fn edit_by_hand(world: &World, memory: &Path, files: &[PathBuf]) -> Result<(), Failure> {
    let file = files
        .iter()
        .find(|file| file.to_string_lossy().contains("maya/facts"));
    let file = file.ok_or_else(|| anyhow::anyhow!("no facts of Maya were written"))?;
    let by_hand = "\n## Maya drinks gyokuro tea in the afternoon\n\nShe buys it in Rua de Santa Catarina.\n";
    let path = memory.join(file);
    let text = std::fs::read_to_string(&path)?;
    std::fs::write(&path, text + by_hand)?;
    line(format_args!("added to {}:\n{by_hand}", file.display()))?;
    let question = Question {
        about: "maya",
        text: "gyokuro",
        as_of: None,
    };
    let started = world.clock.elapsed();
    let deadline = started + Duration::from_secs(EDIT_SECONDS_MAX);
    loop {
        let found = search(world, &question).await?;
        if found
            .memories
            .iter()
            .any(|hit| hit.doc.subject.contains("gyokuro") || hit.doc.text.contains("gyokuro"))
        {
            let took = world.clock.elapsed().saturating_sub(started);
            return line(format_args!("found {} ms after it was saved", took.as_millis()));
        }
        if world.clock.elapsed() > deadline {
            return Err(anyhow::anyhow!("the edit was not found within {EDIT_SECONDS_MAX} seconds").into());
        }
        world.clock.sleep(Duration::from_millis(20)).await;
    }
}

fn heading(text: &str) -> Result<(), Failure> {
    line(format_args!("\n=== {text}\n"))
}
