//! The commands: one function for each, most of them a client of the HTTP API.

mod backup;
mod cache;
mod chat;
mod configuration;
mod context;
mod demo;
mod doctor;
mod export;
mod forget;
mod history;
mod hook;
mod import;
mod init;
mod interrupt;
mod knowledge;
mod live_context;
mod mcp;
mod memory;
mod model;
mod restore;
mod review;
mod runs;
mod serve;
mod shell;
mod skill;
mod token;
mod upkeep;

use std::io::IsTerminal;
use std::path::PathBuf;

use ::model::{Timestamp, Zone};
use anyhow::Context;
use serde::Serialize;
use tracing_subscriber::EnvFilter;

use self::interrupt::{WhatStands, close, unless_interrupted};
use crate::api::Api;
use crate::args::{ApiCommand, Cli, Command, ContextCommand, KnowledgeArgs, KnowledgeCommand, ModelCommand};
use crate::config::{LoadedConfig, load};
use crate::environment;
use crate::error::{Exit, Failure};
use crate::output;
use crate::root::{self, RootFolder};
use crate::world::OpenIndex;

pub(crate) use hook::excused;

/// The context of every command.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) root: PathBuf,
    pub(crate) loaded: LoadedConfig,
    pub(crate) json: bool,
    /// Whether a person watches the progress.
    pub(crate) watched: bool,
    pub(crate) open_index: OpenIndex,
    /// Whether the command only asks a question; other work then waits for later commands.
    pub(crate) asks_only: bool,
    /// Status text that an interrupt prints.
    pub(crate) standing: WhatStands,
}

impl Desk {
    /// Prints an answer: as JSON with `--json`, else as text.
    fn tell(
        &self,
        data: &impl Serialize,
        words: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<Exit, Failure> {
        if self.json {
            output::json(data)?;
        } else {
            words()?;
        }
        Ok(Exit::Ok)
    }
}

/// Runs the command line.
pub(crate) fn run(cli: Cli, open_index: OpenIndex) -> Result<Exit, Failure> {
    match cli.command {
        // Shells and packagers need these without a root and without a configuration.
        Command::Completions { shell } => shell::completions(shell),
        Command::Man { folder } => shell::manual(&folder),
        _ => configured(cli, open_index),
    }
}

fn configured(cli: Cli, open_index: OpenIndex) -> Result<Exit, Failure> {
    let root = cli
        .root
        .or_else(environment::default_root)
        .ok_or_else(|| Failure::usage("no home folder found").hint("name the data folder with --root DIR"))?;
    let loaded = root::check(&root).and_then(|_| load(&root, environment::variables()));
    let loaded = match loaded {
        Err(failure) if matches!(cli.command, Command::Doctor) => {
            return doctor::unconfigured(failure, cli.json);
        }
        loaded => loaded?,
    };
    start_log(&loaded)?;
    let desk = Desk {
        root,
        loaded,
        json: cli.json,
        watched: !cli.json && !cli.quiet,
        open_index,
        asks_only: matches!(
            cli.command,
            Command::Asking(
                ApiCommand::Ask(_) | ApiCommand::Search(_) | ApiCommand::Get(_) | ApiCommand::Status(_)
            )
        ),
        standing: WhatStands::default(),
    };
    work(desk, cli.command)
}

fn work(desk: Desk, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Asking(command) => {
            let starts = |args: &KnowledgeArgs| matches!(args.command, KnowledgeCommand::Add { .. });
            match &command {
                ApiCommand::Add(_) | ApiCommand::Import(_) => {}
                ApiCommand::Knowledge(args) if starts(args) => {}
                _ => desk.check_root()?,
            }
            if let ApiCommand::Sync { accept_missing: true } = command {
                upkeep::accept(&desk)?;
            }
            desk.starting(async |api| asked(&desk, api, command).await)
        }
        Command::Context(args) => match &args.command {
            Some(ContextCommand::Instructions) => configuration::instructions(&desk),
            Some(ContextCommand::Cache { conversation }) => cache::cache(&desk, conversation.as_deref()),
            Some(ContextCommand::Live(live)) => {
                desk.check_root()?;
                desk.starting(async |api| live_context::run(&desk, api, live).await)
            }
            None => context::context(&desk, &args),
        },
        Command::Config => configuration::show(&desk),
        Command::Init(args) => init::init(&desk, &args),
        Command::Doctor => doctor::doctor(&desk),
        Command::Serve(args) => serve::serve(&desk, &args),
        Command::Mcp(args) => mcp::mcp(desk, &args),
        Command::Hook(args) => hook::hook(desk, &args),
        Command::Chat(args) => chat::chat(&desk, args),
        Command::Model(ModelCommand::Fetch { id }) => model::fetch_model(&desk, &id),
        Command::Demo { keep } => demo::demo(&desk, keep),
        Command::Backup { folder } => backup::backup(&desk, &folder),
        Command::Restore { folder } => restore::restore(&desk, &folder),
        Command::Token(command) => token::token(&desk, &command),
        Command::Completions { shell } => shell::completions(shell),
        Command::Man { folder } => shell::manual(&folder),
    }
}

/// Runs a command with the API of its root.
async fn asked(desk: &Desk, api: &Api, command: ApiCommand) -> Result<Exit, Failure> {
    match command {
        ApiCommand::Add(args) => memory::add(desk, api, args).await,
        ApiCommand::Import(args) => import::import(desk, api, args).await,
        ApiCommand::Export(args) => export::export(desk, api, args).await,
        ApiCommand::Ask(args) => memory::ask(desk, api, args).await,
        ApiCommand::Search(args) => memory::search(desk, api, args).await,
        ApiCommand::Get(args) => memory::get(desk, api, args).await,
        ApiCommand::Review(args) => review::review(desk, api, args).await,
        ApiCommand::Skill(args) => skill::skill(desk, api, args).await,
        ApiCommand::Forget(args) => forget::forget(desk, api, args).await,
        ApiCommand::History(args) => history::history(desk, api, args).await,
        ApiCommand::Audit(tenant) => history::audit(desk, api, tenant).await,
        ApiCommand::Knowledge(args) => knowledge::knowledge(desk, api, args).await,
        ApiCommand::Rebuild => upkeep::rebuild(desk, api).await,
        ApiCommand::Sync { .. } => upkeep::sync(desk, api).await,
        ApiCommand::Status(args) => upkeep::status(desk, api, args).await,
        ApiCommand::Runs(args) => runs::runs(desk, api, args).await,
    }
}

impl Desk {
    /// Refuses a missing root.
    fn check_root(&self) -> Result<(), Failure> {
        let root = self.root.display();
        let why = match root::check(&self.root)? {
            RootFolder::Root => return Ok(()),
            RootFolder::Absent => format!("there is no folder `{root}`"),
            RootFolder::Empty => format!("the folder `{root}` is empty"),
        };
        if environment::default_root().as_ref() == Some(&self.root) {
            let none = format!("nothing is remembered yet: {why}");
            let next =
                "`quipu init` connects agents, `quipu add TEXT` and `quipu import FILE` store messages";
            return Err(Failure::missing(none).hint(next));
        }
        let none = Failure::usage(format!("there is no Quipu root at `{root}`"));
        let next = "check --root and QUIPU_ROOT; `quipu add`, `quipu import` and `quipu serve` start a root";
        Err(none.hint(next))
    }

    /// Opens the API of a root, runs the command, and closes everything in order, also after an error. A missing root is created.
    fn starting(&self, work: impl AsyncFnOnce(&Api) -> Result<Exit, Failure>) -> Result<Exit, Failure> {
        runtime()?.block_on(async {
            let api = Api::open(self).await?;
            let result = unless_interrupted(self, work(&api)).await;
            close(api.close()).await;
            result
        })
    }
}

/// The runtime of commands and requests; memory work may have another one.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    Ok(runtime.context("cannot start the runtime")?)
}

/// The configured filter. Below `warn`, the library of the agents' protocol would log whole requests, with the text to remember.
fn log_filter(directives: &str) -> Result<EnvFilter, Failure> {
    let kept = directives
        .split(',')
        .filter(|one| !one.trim_start().starts_with("rmcp"));
    let kept: Vec<&str> = kept.chain(["rmcp=warn"]).collect();
    EnvFilter::try_new(kept.join(",")).map_err(|error| {
        Failure::usage(format!("log.filter: {error}")).hint("as in `info` or `engine=debug`")
    })
}

fn start_log(loaded: &LoadedConfig) -> Result<(), Failure> {
    let log = &loaded.config.log;
    let filter = log_filter(&log.filter)?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(output::is_coloured(std::io::stderr().is_terminal()))
        .with_writer(std::io::stderr);
    let started = if log.json {
        builder.json().try_init()
    } else {
        builder.try_init()
    };
    // A process that runs several commands, such as a test, keeps its first log.
    started.ok();
    Ok(())
}

pub(crate) fn time(option: &str, text: &str, zone: &Zone) -> Result<Timestamp, Failure> {
    match text.parse::<i64>() {
        Ok(millis) => Ok(Timestamp::from_millis(millis)),
        Err(_) => zone
            .parse(text)
            .map_err(|error| Failure::usage(format!("{option}: {error}"))),
    }
}

#[cfg(test)]
mod tests;
