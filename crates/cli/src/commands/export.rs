//! `quipu export`, and the import of its files.
//!
//! Owns: files and folders on the person's side. Never: the content of a user's memory (the API has it).

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use gateway::wire::portable::{ExportLine, ImportedData};
use model::text::counted;
use serde_json::json;

use super::Desk;
use crate::api::{self, Api};
use crate::archive::{check_empty, copy};
use crate::args::ExportArgs;
use crate::error::{Exit, Failure, Hinted as _};
use crate::import::is_everos;
use crate::output::say;
use crate::portable::{PortableMemory, is_export, read_markdown};
use crate::private;
use crate::root::holds_memory;

/// Bytes of lines in one request, far below the server's limit, so that only a single memory can be too large.
const REQUEST_BYTES_MAX: usize = 4 << 20;

pub(super) async fn export(desk: &Desk, api: &Api, args: ExportArgs) -> Result<Exit, Failure> {
    let path = api::Path::new("/memory/export", "")
        .with("user_id", &args.user)
        .within(&args.scope.app, &args.scope.project);
    let route = format!("/api/v2{}", path.text());
    let text = api.client.get(&route).await?.accepted()?;
    let memory = PortableMemory::of_lines(&text)?;
    if memory.lines.is_empty() {
        let none = Failure::missing(format!("memory has nothing of `{}`", args.user));
        return Err(
            none.hint("`quipu status users` lists the users; --app and --project name another tenant")
        );
    }
    if args.to.as_os_str() == "-" {
        say!("{}", String::from_utf8_lossy(&text).trim_end())?;
        return Ok(Exit::Ok);
    }
    let is_lines = args.to.extension().is_some_and(|extension| extension == "jsonl");
    let open = if is_lines {
        if args.to.exists() {
            let failure = Failure::usage(format!("`{}` is there already", args.to.display()));
            return Err(failure.hint("choose a new file"));
        }
        copy(&mut &*text, &args.to).with_context(|| format!("cannot write `{}`", args.to.display()))?;
        0
    } else {
        check_empty(&args.to, "the folder").hint("choose a new folder, or a file `*.jsonl`")?;
        private::folder(&args.to).with_context(|| format!("cannot create `{}`", args.to.display()))?;
        memory.write_markdown(&args.to, &api.zone, &api.clock).await?
    };
    told(desk, &args, &memory, open)
}

fn told(desk: &Desk, args: &ExportArgs, memory: &PortableMemory, open: usize) -> Result<Exit, Failure> {
    let is_memory = |line: &&ExportLine| matches!(line, ExportLine::Memory(_) | ExportLine::Page { .. });
    let is_message = |line: &&ExportLine| matches!(line, ExportLine::Message(_));
    let memories = memory.lines.iter().filter(is_memory).count();
    let messages = memory.lines.iter().filter(is_message).count() - open;
    let (user, to) = (&memory.head.user_id, args.to.display());
    let told = json!({
        "to": args.to, "user": user, "memories": memories, "messages": messages, "left_out": open,
    });
    desk.tell(&told, || {
        let memories = counted(memories, "memory", "memories");
        let messages = counted(messages, "message", "messages");
        say!("exported {memories} of {user}, and {messages} not yet in an episode, to {to}")?;
        if open > 0 {
            let open = counted(open, "message", "messages");
            say!("left out {open} not yet in an episode: a file `*.jsonl` has all")?;
        }
        Ok(())
    })
}

/// Whether `quipu export` wrote a path.
pub(super) fn is_ours(path: &Path) -> bool {
    if path.is_dir() {
        return holds_memory(path, &["users"]) && !is_everos(path);
    }
    let mut beginning = [0; 64];
    let read = File::open(path).and_then(|mut file| file.read(&mut beginning));
    read.is_ok_and(|read| is_export(&beginning[..read]))
}

/// Imports the files of `quipu export`.
pub(super) async fn import(desk: &Desk, api: &Api, paths: &[PathBuf]) -> Result<Exit, Failure> {
    let mut sum = ImportedData::default();
    for path in paths {
        let memories = if path.is_dir() {
            read_markdown(path, &api.zone, &api.clock).await?
        } else {
            let text = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
            vec![PortableMemory::of_lines(&text)?]
        };
        for memory in memories {
            send(api, &memory, &mut sum).await?;
        }
    }
    desk.tell(&sum, || {
        let memories = counted(sum.memories, "memory", "memories");
        let messages = counted(sum.messages, "message", "messages");
        let (new, new_messages) = (sum.new_memories, sum.new_messages);
        say!(
            "{memories} read, {new} of them new; {messages} not yet in an episode, {new_messages} of them new"
        )?;
        if sum.kept_memories > 0 {
            let kept = counted(sum.kept_memories, "memory is", "memories are");
            say!("{kept} different here: what is here stays")?;
        }
        Ok(())
    })
}

/// Sends a user's memory in as many requests as needed.
async fn send(api: &Api, memory: &PortableMemory, sum: &mut ImportedData) -> Result<(), Failure> {
    let head = line(&memory.head)?;
    let mut body = head.clone();
    let mut lines = memory.lines.iter().peekable();
    while let Some(next) = lines.next() {
        body.extend(line(next)?);
        if body.len() < REQUEST_BYTES_MAX && lines.peek().is_some() {
            continue;
        }
        let request = std::mem::replace(&mut body, head.clone());
        let reply = api.client.post("/api/v2/memory/import", request).await?;
        let some: ImportedData = reply.data()?;
        sum.memories += some.memories;
        sum.new_memories += some.new_memories;
        sum.kept_memories += some.kept_memories;
        sum.messages += some.messages;
        sum.new_messages += some.new_messages;
    }
    Ok(())
}

fn line(value: &impl serde::Serialize) -> Result<Vec<u8>, Failure> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}
