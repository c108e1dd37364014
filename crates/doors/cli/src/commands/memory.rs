//! `quipu add`, `quipu search`, `quipu get`, `quipu forget`.

use std::io::{IsTerminal, Read, Write};

use engine::{Add, Flush, Forget, List, MemorizeStatus, Method, Search, SortBy};
use model::{
    Comparison, Content, EntryId, EntryKind, Field, Filter, Message, MessageId, Owner, Role, SessionId,
    SessionKey, Value,
};
use ports::NewMessage;
use serde_json::json;

use super::{Desk, name, owner, scope, time};
use crate::args::{AddArgs, ForgetArgs, GetArgs, KindArg, MethodArg, RoleArg, SearchArgs};
use crate::error::{Exit, Failure};
use crate::output::{self, line};
use crate::world::World;

pub(super) async fn add(desk: &Desk, world: World, args: AddArgs) -> Result<Exit, Failure> {
    let text = match args.text.as_deref() {
        None | Some("-") => from_stdin()?,
        Some(text) => text.to_owned(),
    };
    if text.trim().is_empty() {
        return Err(Failure::usage("there is nothing to remember").hint("give the text, or pipe it in"));
    }
    let (role, usual) = match args.role {
        RoleArg::User => (Role::User, args.user.as_str()),
        RoleArg::Assistant => (Role::Assistant, "assistant"),
        RoleArg::Tool => (Role::Tool, "tool"),
    };
    let session = session(&args.session, &args.scope)?;
    let message = Message {
        id: MessageId::new(""),
        session: session.clone(),
        sender: name("--user", usual)?,
        sender_name: args.name,
        role,
        time: match &args.at {
            Some(at) => time("--at", at, &world.zone)?,
            None => world.clock.now(),
        },
        content: Content::Text(text),
        tool_calls: Vec::new(),
        tool_call_id: (role == Role::Tool).then(|| "typed".to_owned()),
    };
    let new = NewMessage {
        message,
        client_id: args.id,
    };
    let add = Add {
        session: session.clone(),
        messages: vec![new],
        defer_extraction: false,
        task: None,
        wait: false,
    };
    let mut added = world.engine.add(add).await?;
    if args.flush {
        let flush = Flush {
            session,
            task: None,
            wait: true,
        };
        added.status = world.engine.flush(flush).await?.status;
    }
    let one = added
        .accepted
        .first()
        .ok_or_else(|| anyhow::anyhow!("nothing was accepted"))?;
    let status = match added.status {
        MemorizeStatus::Extracted => "extracted",
        MemorizeStatus::Accumulated => "accumulated",
        MemorizeStatus::Queued => "queued",
    };
    if desk.json {
        output::json(&json!({"message_id": one.id.as_str(), "duplicate": one.duplicate, "status": status}))?;
    } else if one.duplicate {
        line(format_args!("already remembered as {}", one.id))?;
    } else {
        line(format_args!("remembered as {} ({status})", one.id))?;
    }
    Ok(Exit::Ok)
}

fn from_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
    Ok(text)
}

fn session(text: &str, args: &crate::args::ScopeArgs) -> Result<SessionKey, Failure> {
    Ok(SessionKey {
        scope: scope(args)?,
        session: SessionId::parse(text).map_err(|error| Failure::usage(format!("--session: {error}")))?,
    })
}

pub(super) async fn search(desk: &Desk, world: World, args: SearchArgs) -> Result<Exit, Failure> {
    if !(0.0..=1.0).contains(&args.min_score) {
        return Err(Failure::usage("--min-score: must be between 0 and 1"));
    }
    let at = |option, text: &Option<String>| {
        text.as_deref()
            .map(|text| time(option, text, &world.zone))
            .transpose()
    };
    let in_session = |id: &String| Filter::Compare(Field::SessionId, Comparison::Eq, Value::Text(id.clone()));
    let search = Search {
        scope: scope(&args.whose.scope)?,
        owner: owner(&args.whose)?,
        query: args.query.clone(),
        method: match args.method {
            MethodArg::Keyword => Method::Keyword,
            MethodArg::Vector => Method::Vector,
            MethodArg::Hybrid => Method::Hybrid,
        },
        memories_max: usize::from(args.top_k),
        messages_max: usize::from(args.messages),
        filter: args.session.as_ref().map(in_session),
        as_of: at("--as-of", &args.as_of)?,
        asked_at: at("--asked-at", &args.asked_at)?,
        score_min: args.min_score,
        tokens_max: args.max_tokens,
    };
    let found = world.engine.search(search.clone()).await?;
    if desk.json {
        output::json(&gateway::present::search(
            &found,
            &search,
            &world.zone,
            args.explain,
        ))?;
    } else {
        output::found(&found, &world.zone, args.explain)?;
    }
    Ok(Exit::Ok)
}

pub(super) async fn get(desk: &Desk, world: World, args: GetArgs) -> Result<Exit, Failure> {
    let kind = match args.kind {
        KindArg::Episode => EntryKind::Episode,
        KindArg::Fact => EntryKind::Fact,
    };
    let list = List {
        scope: scope(&args.whose.scope)?,
        owner: owner(&args.whose)?,
        kind,
        filter: None,
        sort_by: SortBy::Time,
        descending: true,
        page: args.page as usize,
        page_size: usize::from(args.page_size),
    };
    if let Some(id) = &args.id {
        return one(desk, &world, &list, id).await;
    }
    let listed = world.engine.list(list.clone()).await?;
    if desk.json {
        output::json(&gateway::present::list(&listed, &list, &world.zone))?;
        return Ok(Exit::Ok);
    }
    for hit in &listed.hits {
        let title = if hit.doc.subject.is_empty() {
            &hit.doc.text
        } else {
            &hit.doc.subject
        };
        line(format_args!(
            "{}  {}  {}",
            world.zone.date(hit.doc.time),
            hit.doc.key.id,
            output::excerpt(title)
        ))?;
    }
    line(format_args!(
        "{} of {} {}s of {}",
        listed.hits.len(),
        listed.total,
        kind.as_str(),
        list.owner.id
    ))?;
    Ok(Exit::Ok)
}

async fn one(desk: &Desk, world: &World, list: &List, id: &str) -> Result<Exit, Failure> {
    let hit = world
        .engine
        .entry(&list.scope, &list.owner, &EntryId::new(id))
        .await?;
    if desk.json {
        let listed = engine::Listed {
            total: 1,
            hits: vec![hit],
        };
        output::json(&gateway::present::list(&listed, list, &world.zone))?;
        return Ok(Exit::Ok);
    }
    let doc = &hit.doc;
    line(format_args!(
        "{}\n{}  {}  {}\n",
        doc.subject,
        world.zone.render_short(doc.time),
        doc.key.id,
        doc.path
    ))?;
    line(format_args!("{}", doc.text))?;
    Ok(Exit::Ok)
}

pub(super) async fn forget(desk: &Desk, world: World, args: ForgetArgs) -> Result<Exit, Failure> {
    let what = what(&args)?;
    let described = match &what {
        Forget::Session(key) => format!("everything of session `{}`, for everyone", key.session),
        Forget::Owner(_, owner) => format!("everything of `{}`", owner.id),
        Forget::Entries(_, owner, ids) => format!("{} memories of `{}`", ids.len(), owner.id),
    };
    if !args.yes && !confirmed(&described)? {
        return Err(Failure::usage("nothing was forgotten"));
    }
    let forgot = world.engine.forget(what).await?;
    let missing: Vec<&str> = forgot.missing.iter().map(EntryId::as_str).collect();
    if desk.json {
        output::json(&json!({"entries": forgot.entries, "messages": forgot.messages, "missing": missing}))?;
    } else {
        line(format_args!(
            "forgot {} memories and {} messages",
            forgot.entries, forgot.messages
        ))?;
        for id in &missing {
            line(format_args!("not there: {id}"))?;
        }
    }
    Ok(if missing.is_empty() {
        Exit::Ok
    } else {
        Exit::NotFound
    })
}

fn what(args: &ForgetArgs) -> Result<Forget, Failure> {
    if let Some(id) = &args.session {
        return Ok(Forget::Session(session(id, &args.whose.scope)?));
    }
    let named = args.whose.user.is_some() || args.whose.agent.is_some();
    if !named {
        return Err(Failure::usage("whose memory? nothing was forgotten")
            .hint("say --user ID, --agent ID or --session ID"));
    }
    let (scope, owner): (_, Owner) = (scope(&args.whose.scope)?, owner(&args.whose)?);
    match (args.all, args.ids.is_empty()) {
        (true, _) => Ok(Forget::Owner(scope, owner)),
        (false, false) => Ok(Forget::Entries(
            scope,
            owner,
            args.ids.iter().map(|id| EntryId::new(id.as_str())).collect(),
        )),
        (false, true) => Err(Failure::usage("what shall be forgotten?").hint("name ids, or say --all")),
    }
}

/// Asks a person; without a terminal nobody can answer, so the answer is no.
fn confirmed(what: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage(format!("this would forget {what}"))
            .hint("say --yes to do it without being asked"));
    }
    write!(std::io::stderr(), "Forget {what}? It cannot be undone. [y/N] ")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
