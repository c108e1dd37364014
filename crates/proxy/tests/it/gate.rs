//! No job runs while a client waits; every submitted job ends exactly once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use ports::Clock;
use proptest::prelude::*;
use proxy::gate::{
    BackgroundCall, EXPIRIES_MAX, Gate, GateStats, Gates, JobEnd, Lease, MAX_WAIT, WAITING_MAX,
};
use testkit::clock::ManualClock;
use tokio::sync::mpsc;

/// Observations of the jobs, because the gate would catch a panic in one.
#[derive(Debug, Default)]
struct Witness {
    running: AtomicUsize,
    log: Mutex<Vec<String>>,
    wrong: Mutex<Vec<String>>,
}

impl Witness {
    fn note(&self, what: &str, name: &str) {
        self.log
            .lock()
            .expect("no panic under it")
            .push(format!("{what} {name}"));
    }

    fn wrong(&self, what: String) {
        self.wrong.lock().expect("no panic under it").push(what);
    }
}

/// A job under way.
struct Run {
    witness: Arc<Witness>,
    name: String,
    ended: bool,
}

impl Run {
    fn start(witness: &Arc<Witness>, name: &str, gate: &Gate) -> Self {
        let held = gate.stats().foreground;
        if held > 0 {
            witness.wrong(format!("{name} started beside {held} streams"));
        }
        if witness.running.fetch_add(1, SeqCst) > 0 {
            witness.wrong(format!("{name} started beside another"));
        }
        witness.note("start", name);
        Self {
            witness: Arc::clone(witness),
            name: name.to_owned(),
            ended: false,
        }
    }

    fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.witness.running.fetch_sub(1, SeqCst);
        self.witness
            .note(if self.ended { "end" } else { "cut" }, &self.name);
    }
}

/// The end of a test's job after its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Play {
    Done,
    Fails,
    Panics,
    PanicsAtOnce,
    PanicsWhenCut,
}

struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "a planted panic in a drop");
    }
}

struct Stage {
    clock: Arc<ManualClock>,
    gates: Gates,
    gate: Gate,
    witness: Arc<Witness>,
}

impl Stage {
    fn new() -> Self {
        Self::with_quiet(Duration::ZERO)
    }

    fn with_quiet(quiet: Duration) -> Self {
        let clock = Arc::new(ManualClock::new());
        let gates = Gates::new(clock.clone()).idle_after(quiet);
        let gate = gates.of("local");
        Self {
            clock,
            gates,
            gate,
            witness: Arc::default(),
        }
    }

    /// A job that takes this many seconds and then ends in this way.
    fn job(&self, name: &str, key: &str, seconds: u64, play: Play) -> BackgroundCall {
        let (clock, gate) = (Arc::clone(&self.clock), self.gate.clone());
        let (witness, id) = (Arc::clone(&self.witness), name.to_owned());
        let run = Box::new(move || {
            assert!(play != Play::PanicsAtOnce, "a planted panic in a factory");
            let (clock, gate, witness, id) = (clock.clone(), gate.clone(), witness.clone(), id.clone());
            async move {
                let run = Run::start(&witness, &id, &gate);
                let bomb = (play == Play::PanicsWhenCut).then(|| PanicsOnDrop);
                clock.sleep(Duration::from_secs(seconds)).await;
                std::mem::forget(bomb);
                assert!(play != Play::Panics, "a planted panic in a job");
                run.end();
                match play {
                    Play::Fails => JobEnd::Failed("planted".to_owned()),
                    _ => JobEnd::Done,
                }
            }
            .boxed()
        });
        BackgroundCall {
            name: name.to_owned(),
            key: key.to_owned(),
            displaces: false,
            run,
        }
    }

    fn submit(&self, name: &str, seconds: u64) {
        self.gate.submit(self.job(name, name, seconds, Play::Done));
    }

    async fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
        settle().await;
    }

    /// The events since the last call.
    fn log(&self) -> String {
        assert_eq!(
            *self.witness.wrong.lock().expect("no panic under it"),
            Vec::<String>::new()
        );
        std::mem::take(&mut *self.witness.log.lock().expect("no panic under it")).join(", ")
    }
}

/// Lets every task run until it waits for the clock or for the test.
async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn no_job_starts_during_a_stream_and_then_all_run_in_order_one_at_a_time() {
    let stage = Stage::new();
    let mine = stage.gate.foreground();
    let other_conversation = stage.gates.of("local").foreground();
    for name in ["memory", "skill", "title"] {
        stage.submit(name, 1);
    }
    settle().await;
    drop(mine);
    settle().await;
    assert_eq!(stage.log(), "", "another conversation still streams");
    drop(other_conversation);
    settle().await;
    assert_eq!(stage.log(), "start memory");
    stage.advance(1).await;
    assert_eq!(stage.log(), "end memory, start skill");
    stage.advance(1).await;
    stage.advance(1).await;
    assert_eq!(stage.log(), "end skill, start title, end title");
    let done = GateStats {
        done: 3,
        ..GateStats::default()
    };
    assert_eq!(stage.gate.stats(), done);
}

#[tokio::test]
async fn each_server_has_its_own_gate() {
    let stage = Stage::new();
    let _here = stage.gate.foreground();
    let there = stage.gates.of("cloud");
    stage.submit("here", 1);
    let mut job = stage.job("there", "there", 1, Play::Done);
    let (clock, witness) = (Arc::clone(&stage.clock), Arc::clone(&stage.witness));
    let gate = there.clone();
    job.run = Box::new(move || {
        let (clock, witness, gate) = (clock.clone(), witness.clone(), gate.clone());
        async move {
            let run = Run::start(&witness, "there", &gate);
            clock.sleep(Duration::from_secs(1)).await;
            run.end();
            JobEnd::Done
        }
        .boxed()
    });
    there.submit(job);
    settle().await;
    stage.advance(1).await;
    assert_eq!(stage.log(), "start there, end there");
    assert_eq!(stage.gates.stats()["cloud"].done, 1);
    assert_eq!(stage.gates.stats()["local"].waiting, 1);
}

#[tokio::test]
async fn a_stream_between_two_jobs_delays_the_second() {
    let stage = Stage::new();
    let lease: Arc<Mutex<Option<Lease>>> = Arc::default();
    let (gate, kept) = (stage.gate.clone(), Arc::clone(&lease));
    let mut first = stage.job("first", "first", 0, Play::Done);
    first.run = Box::new(move || {
        *kept.lock().unwrap() = Some(gate.foreground());
        std::future::ready(JobEnd::Done).boxed()
    });
    stage.gate.submit(first);
    stage.submit("second", 1);
    settle().await;
    assert_eq!(stage.log(), "");
    assert_eq!((stage.gate.stats().done, stage.gate.stats().cancelled), (1, 0));
    lease.lock().unwrap().take();
    settle().await;
    assert_eq!(stage.log(), "start second");
}

#[tokio::test]
async fn a_stream_cancels_a_running_job_at_once_and_it_runs_again_first_and_ends_once() {
    let stage = Stage::new();
    stage.submit("memory", 10);
    stage.submit("skill", 1);
    settle().await;
    stage.advance(9).await;
    assert_eq!(stage.log(), "start memory");
    let lease = stage.gate.foreground();
    settle().await;
    assert_eq!(stage.log(), "cut memory", "no time has passed on the clock");
    let stats = stage.gate.stats();
    assert_eq!((stats.running, stats.waiting, stats.cancelled), (false, 2, 1));
    drop(lease);
    settle().await;
    stage.advance(10).await;
    stage.advance(1).await;
    assert_eq!(stage.log(), "start memory, end memory, start skill, end skill");
    assert_eq!(stage.gate.stats().done, 2);
}

#[tokio::test]
async fn a_stream_comes_before_the_next_step_of_a_ready_job() {
    for _ in 0..20 {
        let stage = Stage::new();
        stage.submit("memory", 1);
        settle().await;
        let _lease = stage.gate.foreground();
        stage.advance(1).await;
        assert_eq!(stage.log(), "start memory, cut memory");
    }
}

#[tokio::test]
async fn an_overdue_job_moves_to_the_end_of_the_queue_and_is_finally_dropped() {
    let stage = Stage::new();
    let lease = stage.gate.foreground();
    stage.submit("early", 1);
    settle().await;
    stage.advance(60).await;
    stage.submit("late", 1);
    settle().await;
    stage.advance(59).await;
    assert_eq!(stage.gate.stats().expired, 0);
    stage.advance(1).await;
    assert_eq!(stage.gate.stats().expired, 1);
    drop(lease);
    settle().await;
    assert_eq!(stage.log(), "start late");
    stage.advance(1).await;
    stage.advance(1).await;
    assert_eq!(stage.log(), "end late, start early, end early");

    let _lease = stage.gate.foreground();
    stage.submit("never", 1);
    for round in 1..=EXPIRIES_MAX {
        assert_eq!(stage.gate.stats().dropped, 0);
        stage.clock.sleeping(1).await;
        stage.advance(MAX_WAIT.as_secs()).await;
        assert_eq!(stage.gate.stats().expired, u64::from(1 + round));
    }
    let stats = stage.gate.stats();
    assert_eq!((stats.waiting, stats.dropped, stats.done), (0, 1, 2));
    assert_eq!(stage.log(), "");
}

#[tokio::test]
async fn waiting_for_another_job_is_no_expiry() {
    let stage = Stage::new();
    stage.submit("slow", 1000);
    stage.submit("next", 1);
    settle().await;
    stage.advance(999).await;
    let lease = stage.gate.foreground();
    settle().await;
    stage.advance(MAX_WAIT.as_secs() - 1).await;
    assert_eq!(stage.gate.stats().expired, 0);
    stage.advance(1).await;
    assert_eq!(stage.gate.stats().expired, 2);
    drop(lease);
    settle().await;
    assert_eq!(stage.log(), "start slow, cut slow, start slow");
}

#[tokio::test]
async fn a_job_that_is_always_cancelled_is_dropped_and_the_next_runs() {
    let stage = Stage::new();
    stage.submit("long", 10);
    stage.submit("short", 0);
    for _ in 0..EXPIRIES_MAX {
        settle().await;
        assert!(stage.gate.stats().running);
        let lease = stage.gate.foreground();
        settle().await;
        drop(lease);
    }
    settle().await;
    let stats = stage.gate.stats();
    assert_eq!(
        (stats.cancelled, stats.dropped, stats.done, stats.expired),
        (u64::from(EXPIRIES_MAX), 1, 1, 0)
    );
}

#[tokio::test]
async fn a_job_that_fails_or_panics_delays_no_other() {
    let stage = Stage::new();
    let lease = stage.gate.foreground();
    let plays = [Play::Fails, Play::Panics, Play::PanicsAtOnce, Play::PanicsWhenCut];
    for play in plays {
        let name = format!("{play:?}");
        stage.gate.submit(stage.job(&name, &name, 1, play));
    }
    stage.submit("last", 1);
    drop(lease);
    settle().await;
    stage.advance(1).await;
    stage.advance(1).await;
    assert_eq!(
        stage.log(),
        "start Fails, end Fails, start Panics, cut Panics, start PanicsWhenCut"
    );
    let lease = stage.gate.foreground();
    settle().await;
    drop(lease);
    settle().await;
    stage.advance(1).await;
    assert_eq!(stage.log(), "cut PanicsWhenCut, start last, end last");
    let stats = stage.gate.stats();
    assert_eq!((stats.failed, stats.done, stats.dropped), (4, 1, 0));
    assert!(!stats.running);
}

#[tokio::test]
async fn a_newer_job_replaces_a_waiting_one_with_the_same_key() {
    let stage = Stage::new();
    let lease = stage.gate.foreground();
    stage.gate.submit(stage.job("old", "titles", 1, Play::Done));
    stage.submit("other", 1);
    stage.gate.submit(stage.job("new", "titles", 1, Play::Done));
    assert_eq!(stage.gate.stats().waiting, 2);
    drop(lease);
    settle().await;
    stage.advance(1).await;
    stage.advance(1).await;
    assert_eq!(stage.log(), "start new, end new, start other, end other");
    assert_eq!((stage.gate.stats().replaced, stage.gate.stats().dropped), (1, 0));

    stage.gate.submit(stage.job("running", "titles", 1, Play::Done));
    settle().await;
    stage.submit("between", 1);
    stage.gate.submit(stage.job("newest", "titles", 1, Play::Done));
    assert_eq!(stage.gate.stats().waiting, 2, "one that runs keeps its place");
    let lease = stage.gate.foreground();
    settle().await;
    drop(lease);
    settle().await;
    assert_eq!(stage.log(), "start running, cut running, start newest");
    assert_eq!((stage.gate.stats().replaced, stage.gate.stats().waiting), (2, 1));
}

#[tokio::test]
async fn a_full_queue_drops_the_oldest() {
    let stage = Stage::new();
    let lease = stage.gate.foreground();
    for number in 0..=WAITING_MAX {
        stage.submit(&format!("job-{number}"), 1);
    }
    let stats = stage.gate.stats();
    assert_eq!((stats.waiting, stats.dropped), (WAITING_MAX, 1));
    drop(lease);
    settle().await;
    assert_eq!(stage.log(), "start job-1");
    stage.submit("one more", 1);
    let lease = stage.gate.foreground();
    settle().await;
    assert_eq!(
        stage.gate.stats().waiting,
        WAITING_MAX,
        "the cancelled one is back"
    );
    drop(lease);
    settle().await;
    assert_eq!(stage.log(), "cut job-1, start job-1");
}

#[tokio::test]
async fn a_quiet_period_after_the_last_stream_passes_before_a_job_starts() {
    let stage = Stage::with_quiet(Duration::from_secs(30));
    stage.submit("first", 0);
    settle().await;
    assert_eq!(stage.log(), "start first, end first", "nobody has streamed yet");
    drop(stage.gate.foreground());
    stage.submit("second", 0);
    settle().await;
    stage.advance(29).await;
    drop(stage.gate.foreground());
    settle().await;
    stage.advance(29).await;
    assert_eq!(stage.log(), "");
    stage.advance(1).await;
    assert_eq!(stage.log(), "start second, end second");
}

#[tokio::test]
async fn a_shutdown_lets_the_running_job_finish_and_starts_no_other() {
    let stage = Stage::new();
    stage.submit("running", 5);
    stage.submit("waiting", 1);
    settle().await;
    let shutdown = stage.gates.shutdown(Duration::from_secs(10));
    tokio::join!(shutdown, async {
        stage.clock.sleeping(2).await;
        stage.advance(5).await;
    });
    assert_eq!(stage.log(), "start running, end running");
    assert_eq!(alive(), 0);
    stage.submit("too late", 1);
    stage
        .gates
        .of("unknown")
        .submit(stage.job("too late", "", 1, Play::Done));
    settle().await;
    let stats = stage.gate.stats();
    assert_eq!((stats.done, stats.dropped, stats.waiting), (1, 2, 0));
    assert_eq!(stage.gates.stats()["unknown"].dropped, 1);
    assert_eq!((stage.log().as_str(), alive()), ("", 0));
}

#[tokio::test]
async fn a_shutdown_drops_a_job_beyond_its_bound() {
    let stage = Stage::new();
    stage.submit("endless", 1000);
    settle().await;
    tokio::join!(stage.gates.shutdown(Duration::from_secs(10)), async {
        stage.clock.sleeping(2).await;
        stage.advance(9).await;
        assert_eq!(stage.log(), "start endless");
        stage.advance(1).await;
    });
    assert_eq!(stage.log(), "cut endless");
    let stats = stage.gate.stats();
    assert_eq!((stats.running, stats.dropped, alive()), (false, 1, 0));
}

#[tokio::test]
async fn a_stream_during_a_shutdown_still_comes_first() {
    let stage = Stage::new();
    stage.submit("running", 5);
    settle().await;
    tokio::join!(stage.gates.shutdown(Duration::from_secs(10)), async {
        stage.clock.sleeping(2).await;
        drop(stage.gate.foreground());
        let _lease = stage.gate.foreground();
        settle().await;
    });
    assert_eq!(stage.log(), "start running, cut running");
    assert_eq!((stage.gate.stats().dropped, alive()), (1, 0));
}

#[tokio::test]
async fn dropped_gates_leave_no_task() {
    let stage = Stage::new();
    stage.submit("running", 5);
    settle().await;
    assert_eq!(alive(), 1);
    drop(stage.gates);
    settle().await;
    assert_eq!(alive(), 0);
    assert_eq!(stage.witness.running.load(SeqCst), 0);
}

fn alive() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

#[tokio::test]
async fn a_dropped_job_may_own_a_lease_of_its_own_gate() {
    let stage = Stage::new();
    let lease = stage.gate.foreground();
    let mut job = stage.job("tied", "key", 1, Play::Done);
    job.run = Box::new(move || {
        let _ = &lease;
        std::future::ready(JobEnd::Done).boxed()
    });
    stage.gate.submit(job);
    stage.gate.submit(stage.job("free", "key", 0, Play::Done));
    settle().await;
    assert_eq!(stage.log(), "start free, end free");
}

#[test]
fn concurrent_threads_lose_no_job() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .build();
    let ended = runtime.unwrap().block_on(async {
        let gates = Gates::new(Arc::new(ManualClock::new()));
        let gate = gates.of("local");
        let running = Arc::new(AtomicUsize::new(0));
        let (token, mut tokens) = mpsc::channel::<()>(1);
        let mut streams = tokio::task::JoinSet::new();
        for _ in 0..3 {
            let gate = gate.clone();
            streams.spawn(async move {
                for _ in 0..300 {
                    let lease = gate.foreground();
                    tokio::task::yield_now().await;
                    drop(lease);
                    tokio::task::yield_now().await;
                }
            });
        }
        for number in 0..200 {
            let (token, running) = (token.clone(), Arc::clone(&running));
            let run = Box::new(move || {
                let (token, running) = (token.clone(), Arc::clone(&running));
                async move {
                    let beside = running.fetch_add(1, SeqCst);
                    let _end = Leaves(running);
                    tokio::task::yield_now().await;
                    drop(token);
                    JobEnd::Failed(beside.to_string())
                }
                .map(|end| {
                    if end == JobEnd::Failed("0".to_owned()) {
                        JobEnd::Done
                    } else {
                        end
                    }
                })
                .boxed()
            });
            let key = number.to_string();
            gate.submit(BackgroundCall {
                name: key.clone(),
                key,
                displaces: false,
                run,
            });
            tokio::task::yield_now().await;
        }
        drop(token);
        // Ends when the last job has dropped its token; a lost wake-up would keep one for ever.
        assert_eq!(tokens.recv().await, None);
        streams.join_all().await;
        gates.shutdown(Duration::ZERO).await;
        gate.stats()
    });
    assert_eq!((ended.done + ended.dropped, ended.failed), (200, 0), "{ended:?}");
    assert_eq!((ended.foreground, ended.waiting, ended.running), (0, 0, false));
}

struct Leaves(Arc<AtomicUsize>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

#[test]
fn the_counters_are_rendered_by_server() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let text = runtime.block_on(async {
        let stage = Stage::new();
        stage.gates.of("a\"b");
        for play in [Play::Done, Play::Fails] {
            stage.gate.submit(stage.job("job", &format!("{play:?}"), 0, play));
        }
        settle().await;
        let mut text = String::new();
        stage.gates.render_prometheus(&mut text);
        text
    });
    let done = "# HELP quipu_gate_done_total Background jobs done.\n# TYPE quipu_gate_done_total counter\n\
        quipu_gate_done_total{upstream=\"a\\\"b\"} 0\nquipu_gate_done_total{upstream=\"local\"} 1\n";
    assert!(text.starts_with(done), "{text}");
    for (name, count) in [("failed", 1), ("expired", 0), ("cancelled", 0), ("dropped", 0)] {
        let line = format!("quipu_gate_{name}_total{{upstream=\"local\"}} {count}\n");
        assert!(text.contains(&line), "{text}");
    }
}

#[derive(Debug, Clone)]
enum Step {
    Lease,
    Release(usize),
    Submit { key: u8, seconds: u64, play: Play },
    Advance(u64),
    Settle,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let play = prop_oneof![
        4 => Just(Play::Done),
        1 => Just(Play::Fails),
        1 => Just(Play::Panics),
        1 => Just(Play::PanicsWhenCut)
    ];
    let submit = (0u8..20, prop_oneof![Just(0), 1u64..200], play);
    let step = prop_oneof![
        2 => Just(Step::Lease),
        3 => (0usize..4).prop_map(Step::Release),
        4 => submit.prop_map(|(key, seconds, play)| Step::Submit { key, seconds, play }),
        4 => (1u64..150).prop_map(Step::Advance),
        4 => Just(Step::Settle),
    ];
    prop::collection::vec(step, 1..80)
}

/// Runs the steps, releases every stream, and waits until no job is left.
async fn play(steps: Vec<Step>, quiet: Duration) {
    let stage = Stage::with_quiet(quiet);
    let (mut leases, mut submitted) = (Vec::new(), 0u64);
    for step in steps {
        match step {
            Step::Lease => leases.push(stage.gate.foreground()),
            Step::Release(which) if which < leases.len() => drop(leases.swap_remove(which)),
            Step::Release(_) => {}
            Step::Submit { key, seconds, play } => {
                submitted += 1;
                let name = submitted.to_string();
                stage
                    .gate
                    .submit(stage.job(&name, &key.to_string(), seconds, play));
            }
            Step::Advance(seconds) => stage.clock.advance(Duration::from_secs(seconds)),
            Step::Settle => {
                settle().await;
                let stats = stage.gate.stats();
                assert!(leases.is_empty() || !stats.running, "beside a stream: {stats:?}");
                let free = leases.is_empty() && quiet.is_zero();
                assert!(!free || stats.running || stats.waiting == 0, "idle: {stats:?}");
            }
        }
        let GateStats {
            done,
            failed,
            replaced,
            dropped,
            waiting,
            running,
            ..
        } = stage.gate.stats();
        let known = done + failed + replaced + dropped + waiting as u64 + u64::from(running);
        assert_eq!(known, submitted);
    }
    leases.clear();
    settle().await;
    for _ in 0..=submitted {
        stage.advance(200).await;
    }
    let stats = stage.gate.stats();
    assert_eq!((stats.waiting, stats.running, stats.foreground), (0, false, 0));
    assert_eq!(
        stats.done + stats.failed + stats.replaced + stats.dropped,
        submitted
    );
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for line in stage
        .log()
        .split(", ")
        .filter_map(|line| line.strip_prefix("end "))
    {
        *ends.entry(line.to_owned()).or_default() += 1;
    }
    assert!(ends.values().all(|times| *times == 1), "{ends:?}");
    assert!(stats.done <= ends.len() as u64 && ends.len() as u64 <= stats.done + stats.failed);
    stage.gates.shutdown(Duration::ZERO).await;
    assert_eq!(alive(), 0);
}

proptest! {
    #[test]
    fn no_job_starts_beside_a_stream_or_another_job_and_each_ends_once(
        steps in steps(),
        quiet in prop_oneof![Just(0u64), 1u64..60],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(play(steps, Duration::from_secs(quiet)));
    }
}
