//! After any steps in any order, and with any reopening of the file in between, the ledger answers like the
//! fake.

use std::path::Path;

use ledger::SqliteLedger;
use model::{CellId, Message, MessageId, Owner, SessionKey, Timestamp};
use ports::{
    CutWithAppend, FileAppend, FileChanges, JobFailure, JobId, JobKind, Jobs, NewMessage, Sweep, TaskQuery,
};
use proptest::collection::vec;
use proptest::prelude::*;
use testkit::ledger::samples::{at, cell, cut, file, job, name, replies, says, scope, session};
use testkit::ledger::{Ledger, MemoryLedger};

const APPS: [&str; 2] = ["a", "b"];
const USERS: [&str; 3] = ["ann", "bob", "cleo"];

/// A step; its numbers choose among the existing values.
#[derive(Debug, Clone)]
enum Step {
    /// Speakers (the last one is the agent), times and client ids of the messages.
    Append(u8, Vec<(u8, i64, Option<u8>)>),
    /// The same; then all buffered messages become a memcell if the expected buffer is the real one.
    AppendAndCut(u8, Vec<(u8, i64, Option<u8>)>, bool),
    /// Start in the buffer, number and length of the memcells, and their owners.
    Cut(u8, u8, u8, u8, u8),
    Enqueue(u8, u8, i64),
    /// Maximum number of sessions, and of further jobs after the first of each.
    Claim(u8, u8),
    HandBack(Vec<u8>),
    Renew(Vec<u8>),
    Complete(Vec<u8>),
    Fail(u8, Option<i64>),
    Retry(u8, u8),
    Release,
    KeepJobs(i64),
    SweepSession(u8),
    SweepOwner(u8, u8),
    SweepOwnerInSession(u8, u8),
    SweepScope(u8),
    SweepMessages(u8, Vec<u8>),
    File(u8, bool, Vec<(u8, u64)>),
    DropFile(u8),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let said = (0..4_u8, 0..5_i64, prop::option::weighted(0.3, 0..6_u8));
    prop_oneof![
        6 => (0..6_u8, vec(said.clone(), 1..5)).prop_map(|(s, said)| Step::Append(s, said)),
        3 => (0..6_u8, vec(said, 1..3), prop::bool::weighted(0.8))
            .prop_map(|(s, said, fits)| Step::AppendAndCut(s, said, fits)),
        5 => (0..6_u8, 0..3_u8, 1..3_u8, 1..4_u8, 0..8_u8)
            .prop_map(|(s, from, cells, size, owners)| Step::Cut(s, from, cells, size, owners)),
        2 => (0..6_u8, 0..9_u8, 0..40_i64).prop_map(|(s, id, wait)| Step::Enqueue(s, id, wait)),
        4 => (1..4_u8, 0..3_u8).prop_map(|(limit, behind)| Step::Claim(limit, behind)),
        1 => vec(0..9_u8, 1..3).prop_map(Step::HandBack),
        1 => vec(0..9_u8, 1..3).prop_map(Step::Renew),
        4 => vec(0..9_u8, 1..4).prop_map(Step::Complete),
        2 => (0..9_u8, prop::option::of(0..40_i64)).prop_map(|(job, wait)| Step::Fail(job, wait)),
        2 => (0..2_u8, 0..9_u8).prop_map(|(app, job)| Step::Retry(app, job)),
        1 => Just(Step::Release),
        1 => (0..60_i64).prop_map(Step::KeepJobs),
        1 => (0..6_u8).prop_map(Step::SweepSession),
        1 => (0..2_u8, 0..4_u8).prop_map(|(app, owner)| Step::SweepOwner(app, owner)),
        1 => (0..6_u8, 0..4_u8).prop_map(|(s, owner)| Step::SweepOwnerInSession(s, owner)),
        1 => (0..2_u8).prop_map(Step::SweepScope),
        2 => (0..2_u8, vec(0..40_u8, 1..6)).prop_map(|(app, ids)| Step::SweepMessages(app, ids)),
        2 => (0..3_u8, any::<bool>(), vec((0..5_u8, any::<u64>()), 0..4))
            .prop_map(|(path, put, marks)| Step::File(path, put, marks)),
        1 => (0..3_u8).prop_map(Step::DropFile),
        2 => Just(Step::Reopen),
    ]
}

fn chosen_session(n: u8) -> SessionKey {
    session(APPS[usize::from(n % 2)], &format!("s{}", n / 2))
}

fn owner(n: u8) -> Owner {
    match USERS.get(usize::from(n)) {
        Some(user) => Owner::user(name(user)),
        None => Owner::agent(name("bot")),
    }
}

/// The script's own record: the ids that it used and the jobs that it holds.
#[derive(Debug, Default)]
struct Script {
    messages: u32,
    cells: u32,
    leased: Vec<JobId>,
    now: i64,
}

impl Script {
    fn says(&mut self, s: &SessionKey, speaker: u8, time: i64, client_id: Option<u8>) -> NewMessage {
        self.messages += 1;
        let id = format!("m{}", self.messages);
        let message = match USERS.get(usize::from(speaker)) {
            Some(user) => says(s, user, &id, time),
            None => replies(s, "bot", &id, time),
        };
        NewMessage::new(message, client_id.map(|id| format!("client-{id}")))
    }

    fn cut(&mut self, buffer: &[Message], step: (u8, u8, u8, u8)) -> Option<ports::Cut> {
        let (from, cells, size, owners) = step;
        let rest = buffer.get(usize::from(from)..)?;
        let remembering: Vec<&str> = (0..3)
            .filter(|i| owners & (1 << i) != 0)
            .map(|i| USERS[i])
            .collect();
        let cells: Vec<_> = rest
            .chunks(usize::from(size))
            .take(usize::from(cells))
            .map(|messages| {
                self.cells += 1;
                let mut cell = cell(&format!("c{}", self.cells), messages, &remembering);
                if size == 3 {
                    cell.owners.push(owner(3));
                }
                cell
            })
            .collect();
        (!cells.is_empty()).then(|| cut(cells))
    }

    fn pick(&self, n: u8) -> Option<JobId> {
        self.leased
            .get(usize::from(n) % self.leased.len().max(1))
            .cloned()
    }

    /// The leased jobs that these numbers choose.
    fn picked(&self, jobs: &[u8]) -> Vec<JobId> {
        jobs.iter().filter_map(|n| self.pick(*n)).collect()
    }

    /// A job's id may name another job once the first is gone; nobody claimed that one.
    fn forget_reused_ids(&mut self) {
        self.leased.retain(|id| id.0.starts_with("job-"));
    }

    /// Runs a step and returns its answer.
    async fn run(&mut self, ledger: &impl Ledger, step: &Step) -> String {
        self.now += 10;
        let now = at(self.now);
        match step {
            Step::Append(s, said) => {
                let s = chosen_session(*s);
                let new = self.new_messages(&s, said);
                format!("{:?}", ledger.append(&s, new, now).await)
            }
            Step::AppendAndCut(s, said, fits) => self.append_and_cut(ledger, *s, said, *fits, now).await,
            Step::Cut(s, from, cells, size, owners) => {
                let buffer = ledger.buffer(&chosen_session(*s)).await.expect("reads");
                match self.cut(&buffer, (*from, *cells, *size, *owners)) {
                    Some(cut) => {
                        let first = format!("{:?}", ledger.cut(cut.clone()).await);
                        let mut again = cut;
                        for cell in &mut again.cells {
                            cell.id = CellId::new(format!("again-{}", cell.id));
                        }
                        for job in &mut again.jobs {
                            job.subject = format!("again-{}", job.subject);
                        }
                        format!("{first} {:?}", ledger.cut(again).await)
                    }
                    None => String::new(),
                }
            }
            Step::Enqueue(s, id, wait) => {
                let new = ports::NewJob {
                    run_at: now.plus_millis(*wait),
                    ..job(&format!("j{id}"), JobKind::MemoryAdd, &chosen_session(*s))
                };
                format!("{:?}", ledger.enqueue(vec![new], now).await)
            }
            Step::Claim(limit, behind) => {
                let (limit, behind) = (usize::from(*limit), usize::from(*behind));
                let claimed = ledger.claim(limit, behind, now, now.plus_millis(35)).await;
                let claimed = claimed.expect("claims");
                self.leased.extend(claimed.iter().map(|job| job.id.clone()));
                format!("{claimed:?}")
            }
            Step::HandBack(jobs) => {
                format!("{:?}", ledger.hand_back(&self.picked(jobs), now).await)
            }
            Step::Renew(jobs) => self.renew(ledger, jobs, now).await,
            Step::Complete(jobs) => {
                format!("{:?}", ledger.complete(&self.picked(jobs), now).await)
            }
            Step::Fail(job, wait) => match self.pick(*job) {
                Some(id) => {
                    let failure = JobFailure {
                        error: format!("at {now}"),
                        retry_at: wait.map(|wait| now.plus_millis(wait)),
                    };
                    format!("{:?}", ledger.fail(&id, failure, now).await)
                }
                None => String::new(),
            },
            Step::Retry(app, job) => self.retry(ledger, *app, *job, now).await,
            Step::Release => format!("{:?}", ledger.release_all(now.plus_millis(60_000)).await),
            Step::KeepJobs(since) => {
                self.forget_reused_ids();
                format!("{:?}", ledger.drop_finished(now.plus_millis(-since)).await)
            }
            other => self.run_rest(ledger, other).await,
        }
    }

    fn new_messages(&mut self, s: &SessionKey, said: &[(u8, i64, Option<u8>)]) -> Vec<NewMessage> {
        said.iter()
            .map(|(speaker, time, client_id)| self.says(s, *speaker, *time, *client_id))
            .collect()
    }

    async fn append_and_cut(
        &mut self,
        ledger: &impl Ledger,
        s: u8,
        said: &[(u8, i64, Option<u8>)],
        fits: bool,
        now: Timestamp,
    ) -> String {
        let s = chosen_session(s);
        let new = self.new_messages(&s, said);
        let mut buffer = ledger.buffer(&s).await.expect("reads");
        let buffered_before = buffer.len() + usize::from(!fits);
        buffer.extend(new.iter().map(|new| new.message.clone()));
        buffer.sort_by_key(|message| message.time);
        self.cells += 1;
        let cell = cell(&format!("c{}", self.cells), &buffer, &USERS[..1]);
        let with = CutWithAppend {
            cut: cut(vec![cell]),
            buffered_before,
        };
        format!("{:?}", ledger.append_and_cut(new, with, now).await)
    }

    async fn renew(&self, ledger: &impl Ledger, jobs: &[u8], now: Timestamp) -> String {
        let until = now.plus_millis(35);
        format!("{:?}", ledger.renew(&self.picked(jobs), until).await)
    }

    async fn retry(&mut self, ledger: &impl Ledger, app: u8, job: u8, now: Timestamp) -> String {
        let Some(id) = self.pick(job) else {
            return String::new();
        };
        let retried = ledger.retry(&scope(APPS[usize::from(app)]), &id, now).await;
        // The job must be claimed before it can end again.
        self.leased
            .retain(|held| !matches!(retried, Ok(true)) || *held != id);
        format!("{retried:?}")
    }

    async fn run_rest(&mut self, ledger: &impl Ledger, step: &Step) -> String {
        let sweep = match step {
            Step::SweepSession(s) => Sweep::Session(chosen_session(*s)),
            Step::SweepOwner(app, n) => Sweep::Owner(scope(APPS[usize::from(*app)]), owner(*n)),
            Step::SweepOwnerInSession(s, n) => Sweep::OwnerInSession(chosen_session(*s), owner(*n)),
            Step::SweepScope(app) => Sweep::Scope(scope(APPS[usize::from(*app)])),
            Step::SweepMessages(app, ids) => {
                let ids = ids.iter().map(|id| MessageId::new(format!("m{id}")));
                Sweep::Messages(scope(APPS[usize::from(*app)]), ids.collect())
            }
            Step::File(path, put, marks) => {
                let entries: Vec<(String, u64)> = marks
                    .iter()
                    .map(|(entry, digest)| (format!("ep_{entry}"), *digest))
                    .collect();
                let entries: Vec<(&str, u64)> = entries.iter().map(|(e, d)| (e.as_str(), *d)).collect();
                let mut record = file(&format!("f{path}"), self.now.unsigned_abs(), &entries);
                record.problem = (entries.len() == 3).then(|| "three".to_owned());
                if *put {
                    return format!("{:?}", ledger.put(record).await);
                }
                let recorded = ledger.stat(&record.stat.path).await.expect("reads");
                // Some appends do not follow the recorded state.
                let before = recorded.filter(|_| entries.len() != 1);
                let append = FileAppend {
                    before,
                    after: record,
                };
                return format!("{:?}", ledger.extend(vec![append]).await);
            }
            Step::DropFile(path) => {
                return format!("{:?}", ledger.drop_paths(&[format!("f{path}").into()]).await);
            }
            _ => return String::new(),
        };
        self.forget_reused_ids();
        format!("{:?}", ledger.sweep(sweep).await)
    }

    /// Everything that the ports return.
    async fn everything(&self, ledger: &impl Ledger) -> Vec<String> {
        let mut seen = Vec::new();
        for n in 0..6 {
            seen.push(format!("{:?}", ledger.buffer(&chosen_session(n)).await));
        }
        let ids: Vec<MessageId> = (0..=self.messages)
            .map(|n| MessageId::new(format!("m{n}")))
            .collect();
        for app in APPS {
            seen.push(format!("{:?}", ledger.messages(&scope(app), &ids).await));
            for n in 0..4 {
                seen.push(format!("{:?}", ledger.tail(&scope(app), &owner(n)).await));
            }
            let query = TaskQuery {
                scope: scope(app),
                session: None,
                state: None,
                kinds: Vec::new(),
                made_from: None,
                made_before: None,
                page: 1,
                page_size: 100,
            };
            seen.push(format!("{:?}", ledger.page(&query).await));
        }
        for n in 0..=self.cells {
            seen.push(format!("{:?}", ledger.cell(&CellId::new(format!("c{n}"))).await));
        }
        seen.push(format!("{:?}", ledger.buffered().await));
        seen.push(format!("{:?}", Jobs::stats(ledger).await));
        seen.push(format!(
            "{:?} {:?}",
            FileChanges::stats(ledger).await,
            ledger.broken().await
        ));
        for n in 0..3 {
            seen.push(format!("{:?}", ledger.record(&format!("f{n}").into()).await));
        }
        seen
    }
}

#[tokio::main(flavor = "current_thread")]
async fn compare(path: &Path, steps: &[Step]) {
    let model = MemoryLedger::new();
    let mut ledger = SqliteLedger::open(path).expect("opens");
    let mut scripts = (Script::default(), Script::default());
    for (i, step) in steps.iter().enumerate() {
        if matches!(step, Step::Reopen) {
            drop(ledger);
            ledger = SqliteLedger::open(path).expect("opens");
        }
        let expected = scripts.0.run(&model, step).await;
        let answered = scripts.1.run(&ledger, step).await;
        assert_eq!(answered, expected, "step {i}: {step:?}");
        let expected = scripts.0.everything(&model).await;
        let seen = scripts.1.everything(&ledger).await;
        assert_eq!(seen, expected, "after step {i}: {step:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_ledger_answers_like_the_one_in_memory(steps in vec(step(), 1..60)) {
        let folder = tempfile::tempdir().expect("a folder");
        compare(&folder.path().join("ledger.db"), &steps);
    }
}
