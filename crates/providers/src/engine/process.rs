//! One run of an engine's program: lines out, lines in, and its end.
//!
//! Owns: the child process, its three pipes and their threads, the mapping of answers to calls. Invariant: the process
//! is killed and waited for when its answers can no longer be mapped, and when this is dropped. Never: starting another
//! one (`command`).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use ports::context_engine::EngineFault;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tracing::debug;

use super::protocol::{BYTES_MAX, HookCall, failed, parsed, quote};

/// Maximum number of calls that wait for an answer at a time.
const CALLS_MAX: usize = 64;
/// Maximum number of conversations whose `bootstrap` is recorded. Others get another one.
const BOOTED_MAX: usize = 10_000;
/// A program that writes no line for this long, while its calls time out, counts as hung.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// Longer lines of its log are split.
const LOG_LINE_BYTES_MAX: u64 = 8 << 10;
/// Maximum time that the end of the process waits for the last line of its log.
const LAST_LOG_LINE_WAIT: Duration = Duration::from_millis(200);

type HookReply = Result<Map<String, Value>, EngineFault>;

/// A program that runs or has ended.
#[derive(Debug)]
pub(super) struct Process {
    lines: SyncSender<Vec<u8>>,
    shared: Arc<Shared>,
    /// The conversations with a `bootstrap` in this run.
    booted: Mutex<BTreeSet<String>>,
}

/// State shared with the threads of the pipes.
#[derive(Debug)]
struct Shared {
    engine: String,
    child: Mutex<Option<Child>>,
    calls: Mutex<Calls>,
    /// When the first call since the last line timed out, by `Clock::elapsed`.
    silent_since: Mutex<Option<Duration>>,
    /// The last line of its log.
    last_log_line: Mutex<String>,
}

#[derive(Debug, Default)]
struct Calls {
    /// The id of the newest call.
    last: u64,
    waiting: BTreeMap<u64, oneshot::Sender<HookReply>>,
    /// Why it accepts no more calls.
    over: Option<String>,
}

/// A call that waits for its answer. Dropping it abandons the answer.
#[derive(Debug)]
struct Waiting<'a> {
    shared: &'a Shared,
    id: u64,
    answer: oneshot::Receiver<HookReply>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.shared.calls.lock().waiting.remove(&self.id);
    }
}

impl Process {
    /// Starts the program. It blocks until the system has loaded it.
    pub(super) fn start(engine: &str, argv: &[String]) -> Result<Self, String> {
        let (program, arguments) = argv.split_first().ok_or("`command` is empty")?;
        let mut command = Command::new(program);
        command.args(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Ctrl-C at the terminal must reach only Quipu, which then ends the engine.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .spawn()
            .map_err(|error| format!("`{program}` cannot be started: {error}; check `command`"))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let shared = Arc::new(Shared {
            engine: engine.to_owned(),
            child: Mutex::new(Some(child)),
            calls: Mutex::default(),
            silent_since: Mutex::default(),
            last_log_line: Mutex::default(),
        });
        let (lines, queue) = sync_channel(CALLS_MAX);
        let process = Self {
            lines,
            shared: Arc::clone(&shared),
            booted: Mutex::default(),
        };
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(format!("`{program}` was started without pipes"));
        };
        run_threads(&shared, stdin, stdout, stderr, queue)
            .map_err(|error| format!("no thread for `{program}` can be started: {error}"))?;
        Ok(process)
    }

    /// Why it accepts no more calls; none while it runs.
    pub(super) fn over(&self) -> Option<String> {
        self.shared.calls.lock().over.clone()
    }

    pub(super) fn has_booted(&self, conversation: &str) -> bool {
        self.booted.lock().contains(conversation)
    }

    pub(super) fn note_booted(&self, conversation: &str) {
        let mut booted = self.booted.lock();
        if booted.len() >= BOOTED_MAX {
            booted.clear();
        }
        booted.insert(conversation.to_owned());
    }

    /// Writes a call and waits for its answer.
    pub(super) async fn exchange(&self, call: &HookCall<'_>) -> HookReply {
        let mut waiting = self.shared.register()?;
        let mut line = call.body(waiting.id)?;
        line.push(b'\n');
        self.lines.try_send(line).map_err(|_| {
            let over = self.over();
            failed(over.unwrap_or_else(|| "it does not read its standard input".to_owned()))
        })?;
        let answer = (&mut waiting.answer).await;
        answer.unwrap_or_else(|_| Err(failed("it ended before it answered")))
    }

    /// Records that a call timed out now. Ends a silent program, so that another can be started.
    pub(super) fn note_silence(&self, now: Duration) {
        let since = *self.shared.silent_since.lock().get_or_insert(now);
        if now.saturating_sub(since) >= SILENCE_MAX {
            let seconds = SILENCE_MAX.as_secs();
            self.shared
                .end(&format!("it gave no answer for {seconds} s; Quipu stopped it"));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.shared.end("Quipu stopped it");
    }
}

impl Shared {
    fn register(&self) -> Result<Waiting<'_>, EngineFault> {
        let mut calls = self.calls.lock();
        if let Some(why) = &calls.over {
            return Err(failed(why.clone()));
        }
        if calls.waiting.len() >= CALLS_MAX {
            return Err(failed(format!(
                "{CALLS_MAX} calls wait for it; it is too slow for so many conversations"
            )));
        }
        calls.last += 1;
        let id = calls.last;
        let (reply, answer) = oneshot::channel();
        calls.waiting.insert(id, reply);
        Ok(Waiting {
            shared: self,
            id,
            answer,
        })
    }

    /// Gives a line to its call, or returns why the process's lines are no longer reliable.
    fn dispatch(&self, line: &[u8]) -> Result<(), String> {
        *self.silent_since.lock() = None;
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let (id, answer) = parsed(line).map_err(|wrong| {
            format!("a line on its standard output {wrong}; write one answer a line there and logs to standard error")
        })?;
        let mut calls = self.calls.lock();
        if id == 0 || id > calls.last {
            return Err(format!("it answered call {id}, which Quipu did not make"));
        }
        if let Some(reply) = calls.waiting.remove(&id) {
            // The call may time out at this moment.
            drop(reply.send(Ok(answer)));
        } else {
            debug!(engine = self.engine, id, "answer arrived after the timeout");
        }
        Ok(())
    }

    /// Accepts no more calls, fails the waiting ones, and kills the process. Its own thread waits for its end.
    fn end(&self, why: &str) {
        self.fail_all(why);
        if let Some(mut child) = self.killed() {
            let reap = thread::Builder::new().name("engine-end".to_owned());
            let reaped = reap.spawn(move || child.wait());
            if let Err(error) = reaped {
                debug!(engine = self.engine, %error, "cannot reap the process; it stays a zombie until Quipu exits");
            }
        }
    }

    fn fail_all(&self, why: &str) {
        let mut calls = self.calls.lock();
        let why = calls.over.get_or_insert_with(|| why.to_owned()).clone();
        let waiting = std::mem::take(&mut calls.waiting);
        drop(calls);
        for reply in waiting.into_values() {
            drop(reply.send(Err(failed(why.clone()))));
        }
    }

    fn killed(&self) -> Option<Child> {
        let mut child = self.child.lock().take()?;
        if let Err(error) = child.kill() {
            debug!(engine = self.engine, %error, "cannot kill the process");
        }
        Some(child)
    }
}

fn run_threads(
    shared: &Arc<Shared>,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
    queue: Receiver<Vec<u8>>,
) -> io::Result<()> {
    let named = |name: &str| thread::Builder::new().name(name.to_owned());
    let (silence, silent) = sync_channel(0);
    let of_log = Arc::clone(shared);
    named("engine-log").spawn(move || {
        log_lines(&of_log, stderr);
        drop::<SyncSender<()>>(silence);
    })?;
    let of_input = Arc::clone(shared);
    named("engine-in").spawn(move || write_calls(&of_input, stdin, &queue))?;
    let of_output = Arc::clone(shared);
    named("engine-out").spawn(move || read_answers(&of_output, stdout, &silent))?;
    Ok(())
}

/// Ends when the process ends, or when all callers are gone. That closes the program's standard input.
fn write_calls(shared: &Shared, mut stdin: ChildStdin, queue: &Receiver<Vec<u8>>) {
    for line in queue {
        let written = stdin.write_all(&line).and_then(|()| stdin.flush());
        if let Err(error) = written {
            debug!(engine = shared.engine, %error, "the engine closed its standard input");
            // The process may still run, but it can receive no more calls. The end of its standard output does the rest.
            if let Some(child) = shared.child.lock().as_mut() {
                child.kill().ok();
            }
            return;
        }
    }
}

fn read_answers(shared: &Shared, stdout: ChildStdout, log_ended: &Receiver<()>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let read = (&mut stdout)
            .take(BYTES_MAX as u64 + 1)
            .read_until(b'\n', &mut line);
        if let Err(error) = &read {
            debug!(engine = shared.engine, %error, "cannot read the engine's standard output");
        }
        if line.len() > BYTES_MAX {
            let mebibytes = BYTES_MAX >> 20;
            return shared.end(&format!(
                "a line on its standard output is longer than {mebibytes} MiB"
            ));
        }
        if read.is_err() || !line.ends_with(b"\n") {
            break;
        }
        if let Err(why) = shared.dispatch(&line) {
            return shared.end(&why);
        }
    }
    let status = shared.killed().map(|mut child| child.wait());
    // Nothing is sent: the channel closes when the log ends.
    log_ended.recv_timeout(LAST_LOG_LINE_WAIT).ok();
    let ended = match status {
        Some(Ok(status)) => format!("its process ended ({status})"),
        _ => "its process ended".to_owned(),
    };
    let last_log_line = shared.last_log_line.lock().clone();
    if last_log_line.is_empty() {
        shared.fail_all(&ended);
    } else {
        shared.fail_all(&format!("{ended}: {last_log_line}"));
    }
}

fn log_lines(shared: &Shared, stderr: ChildStderr) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        let read = (&mut stderr)
            .take(LOG_LINE_BYTES_MAX)
            .read_until(b'\n', &mut line);
        if line.is_empty() || read.is_err() {
            return;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if !text.is_empty() {
            debug!(engine = shared.engine, "{text}");
            *shared.last_log_line.lock() = quote(text);
        }
    }
}
