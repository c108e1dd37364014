//! A chat model behind the gate: calls of one list run together, and a call that a person waits for does not wait.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use ports::{Chat, ChatError, ChatReply, ChatRequest, Clock};
use proxy::GatedChat;
use proxy::gate::{Gate, Gates};
use testkit::clock::ManualClock;

/// A model that takes as many seconds for an answer as the question names.
#[derive(Debug)]
struct Slow {
    clock: Arc<ManualClock>,
    asked: Mutex<Vec<String>>,
    now: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl Chat for Slow {
    fn model(&self) -> &'static str {
        "slow"
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ChatError> {
        let asked = request.messages[1].content.clone();
        self.asked.lock().expect("no panic under it").push(asked.clone());
        let now = self.now.fetch_add(1, SeqCst) + 1;
        self.most.fetch_max(now, SeqCst);
        let now = until_dropped(&self.now);
        self.clock
            .sleep(Duration::from_secs(asked.parse().expect("seconds")))
            .await;
        drop(now);
        Ok(ChatReply {
            content: asked,
            model: "slow".to_owned(),
            prompt_tokens: 1,
            completion_tokens: 1,
        })
    }
}

fn until_dropped(count: &AtomicUsize) -> impl Drop + '_ {
    struct Left<'a>(&'a AtomicUsize);
    impl Drop for Left<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, SeqCst);
        }
    }
    Left(count)
}

fn stage() -> (Arc<Slow>, Gates, Gate, GatedChat) {
    let clock = Arc::new(ManualClock::new());
    let slow = Arc::new(Slow {
        clock: clock.clone(),
        asked: Mutex::default(),
        now: AtomicUsize::new(0),
        most: AtomicUsize::new(0),
    });
    let gates = Gates::new(clock);
    let gate = gates.of("local");
    let chat = GatedChat::new(slow.clone(), gate.clone());
    (slow, gates, gate, chat)
}

fn requests(seconds: &[&str]) -> Vec<ChatRequest> {
    seconds
        .iter()
        .map(|seconds| ChatRequest::new("wait", *seconds, 10))
        .collect()
}

async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn calls_of_one_list_run_together_and_only_the_unanswered_ones_again_after_a_stream() {
    let (slow, _gates, gate, chat) = stage();
    let mut answers = Box::pin(chat.complete_all(requests(&["1", "2", "30", "40"])));
    assert!(answers.as_mut().now_or_never().is_none());
    settle().await;
    slow.clock.advance(Duration::from_secs(5));
    settle().await;
    assert_eq!(slow.most.load(SeqCst), 4);
    let stream = gate.foreground();
    settle().await;
    assert_eq!(slow.now.load(SeqCst), 0, "a client comes first");
    drop(stream);
    settle().await;
    slow.clock.advance(Duration::from_mins(1));
    let answers = answers.await;
    let words: Vec<String> = answers
        .into_iter()
        .map(|reply| reply.expect("an answer").content)
        .collect();
    assert_eq!(words, ["1", "2", "30", "40"]);
    let asked = slow.asked.lock().expect("no panic under it");
    assert_eq!(*asked, ["1", "2", "30", "40", "30", "40"]);
}

#[tokio::test]
async fn an_awaited_call_runs_beside_a_stream_and_the_others_wait() {
    let (slow, _gates, gate, chat) = stage();
    let _stream = gate.foreground();
    let mut asked = requests(&["7"]);
    let mut later = Box::pin(chat.complete(asked[0].clone()));
    assert!(later.as_mut().now_or_never().is_none());
    asked[0].is_awaited = true;
    let mut awaited = Box::pin(chat.complete(asked.remove(0)));
    assert!(awaited.as_mut().now_or_never().is_none());
    slow.clock.advance(Duration::from_secs(7));
    assert_eq!(awaited.await.expect("an answer").content, "7");
    settle().await;
    assert!(later.as_mut().now_or_never().is_none(), "a stream still runs");
    assert_eq!(slow.asked.lock().expect("no panic under it").len(), 1);
}
