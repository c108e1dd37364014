//! Limits, retries and rests, with the test's clock.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::server::dead_url;

const HELLO: &str = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel";

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Whether these are both waits between three attempts, without a wait that the server asked for.
fn are_own_waits(waits: &[Duration]) -> bool {
    let [first, second] = waits else { return false };
    let within = |wait: &Duration, full| (full / 2..=full).contains(wait);
    within(first, Duration::from_millis(250)) && within(second, seconds(1))
}

/// A server that gives these answers one after the other, and repeats the last.
fn answering(replies: Vec<Reply>) -> Server {
    let turn = AtomicUsize::new(0);
    Server::new(move |_| {
        let turn = turn.fetch_add(1, Ordering::SeqCst);
        replies[turn.min(replies.len() - 1)].clone()
    })
}

#[tokio::test]
async fn a_request_that_did_not_reach_the_server_is_tried_three_times() {
    let clock = Timer::with_limits(&LIMITS);
    let error = upstream(&dead_url("/v1"), clock.clone()).send(request()).await;
    assert!(
        matches!(error, Err(UpstreamError::Unreachable { .. })),
        "{error:?}"
    );
    assert!(are_own_waits(&clock.waits()), "{:?}", clock.waits());

    let clock = Timer::with_limits(&[HEAD]);
    // A server that accepts the connection and never shakes hands.
    let listener = Listener::new().await;
    let upstream = upstream(&listener.url("https"), clock.clone());
    let error = upstream.send(request()).await.expect_err("no hands are shaken");
    assert_eq!(error, UpstreamError::TimedOut { after: CONNECT });
    let (limits, waits): (Vec<_>, Vec<_>) = clock.waits().into_iter().partition(|wait| *wait == CONNECT);
    assert_eq!(limits.len(), 3);
    assert!(are_own_waits(&waits), "{waits:?}");
}

/// The client retries by itself: with two retries of its own and three attempts of ours each, it would be nine.
#[tokio::test]
async fn an_answer_is_passed_on_unchanged_and_not_requested_again() {
    for status in [429, 500, 502, 503, 504, 408, 404, 302] {
        let busy = Reply::new(status, "busy").header("retry-after", "7");
        let server = answering(vec![busy, Reply::new(200, "hi")]);
        let clock = Timer::with_limits(&LIMITS);
        let answer = upstream(&server.url("/v1"), clock.clone()).send(request()).await;
        let answer = answer.expect("it answers");
        assert_eq!((answer.status, answer.header("retry-after")), (status, Some("7")));
        assert_eq!(body_of(answer).await, b"busy");
        assert_eq!((clock.waits(), server.requests().len()), (vec![], 1), "{status}");
    }
}

#[tokio::test]
async fn a_body_that_ends_early_reports_it_once() {
    let listener = Listener::new().await;
    let upstream = upstream(&listener.url("http"), Timer::with_limits(&LIMITS));
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n";
    for head in [HELLO, chunked] {
        for is_reset in [false, true] {
            let (mut answer, peer) = listener.answer(&upstream, head).await;
            assert_eq!(answer.body.next().await, Some(Ok("hel".into())));
            if is_reset {
                peer.stream.set_zero_linger().expect("an open socket");
            }
            drop(peer);
            let end = answer.body.next().await;
            assert!(
                matches!(end, Some(Err(UpstreamError::BrokeOff { .. }))),
                "{end:?}"
            );
            assert_eq!(answer.body.next().await, None);
        }
    }
}

#[tokio::test]
async fn a_malformed_answer_is_not_requested_again() {
    for said in [
        "",
        "SSH-2.0-OpenSSH\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nx: ",
    ] {
        let listener = Listener::new().await;
        let clock = Timer::with_limits(&LIMITS);
        let upstream = upstream(&listener.url("http"), clock.clone());
        let (answer, ()) = tokio::join!(upstream.send(request()), async {
            listener.accept().await.say(said).await;
        });
        assert!(
            matches!(answer, Err(UpstreamError::BrokeOff { .. })),
            "{said:?}: {answer:?}"
        );
        assert_eq!(clock.waits(), []);
    }
}

#[tokio::test]
async fn a_head_that_trickles_ends_at_its_limit() {
    let listener = Listener::new().await;
    let clock = Arc::new(ManualClock::new());
    let upstream = upstream(&listener.url("http"), clock.clone());
    let mut sending = std::pin::pin!(upstream.send(request()));
    let mut peer = tokio::select! {
        answer = &mut sending => panic!("nothing was said: {answer:?}"),
        peer = listener.accept() => peer,
    };
    peer.say("HTTP/1.1 200 OK\r\nx-long: ").await;
    for _ in 0..599 {
        clock.advance(seconds(1));
        peer.say("x").await;
        assert!(
            futures::poll!(&mut sending).is_pending(),
            "at {:?}",
            clock.elapsed()
        );
    }
    clock.advance(seconds(1));
    let error = sending.await.expect_err("the head never ends");
    assert_eq!(error, UpstreamError::TimedOut { after: HEAD });
    peer.closed().await;
}

#[tokio::test]
async fn a_body_may_take_any_time_while_it_moves() {
    let listener = Listener::new().await;
    let clock = Arc::new(ManualClock::new());
    let upstream = upstream(&listener.url("http"), clock.clone());
    let (mut answer, mut peer) = listener.answer(&upstream, HELLO).await;
    assert_eq!(answer.body.next().await, Some(Ok("hel".into())));
    for _ in 0..5 {
        let mut next = answer.body.next();
        assert!(futures::poll!(&mut next).is_pending());
        clock.advance(seconds(299));
        assert!(futures::poll!(&mut next).is_pending());
        peer.say("o").await;
        assert_eq!(next.await, Some(Ok("o".into())));
    }
    let mut next = answer.body.next();
    assert!(futures::poll!(&mut next).is_pending());
    clock.advance(GAP);
    assert_eq!(next.await, Some(Err(UpstreamError::TimedOut { after: GAP })));
    assert_eq!(answer.body.next().await, None);
    peer.closed().await;
}

async fn fails(upstream: &HttpUpstream, times: usize) {
    for _ in 0..times {
        let error = upstream.send(request()).await.expect_err("nothing listens");
        assert!(matches!(error, UpstreamError::Unreachable { .. }), "{error:?}");
    }
}

async fn rests(upstream: &HttpUpstream, left: u64) {
    let error = upstream.send(request()).await.expect_err("it rests");
    assert_eq!(
        error,
        UpstreamError::Resting {
            retry_after: seconds(left)
        }
    );
}

#[tokio::test]
async fn a_failing_server_rests_is_tried_and_recovers() {
    let listener = Listener::new().await;
    let (url, address) = (
        listener.url("http"),
        listener.0.local_addr().expect("it is bound"),
    );
    drop(listener);
    let clock = Timer::with_limits(&LIMITS);
    let upstream = upstream(&url, clock.clone());
    fails(&upstream, 5).await;
    rests(&upstream, 10).await;
    clock.sleep(seconds(9)).await;
    rests(&upstream, 1).await;
    clock.sleep(seconds(1)).await;
    // The trial fails: one more rest.
    fails(&upstream, 1).await;
    rests(&upstream, 10).await;
    for wait in [9, 1] {
        clock.sleep(seconds(wait)).await;
    }
    // Any status is an answer; during the trial no other request may try.
    let listener = Listener(TcpListener::bind(address).await.expect("the port is still free"));
    let (answer, ()) = tokio::join!(upstream.send(request()), async {
        let mut peer = listener.accept().await;
        rests(&upstream, 10).await;
        peer.say("HTTP/1.1 500 Oh\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .await;
    });
    assert_eq!(answer.expect("it answers").status, 500);
    drop(listener);
    fails(&upstream, 5).await;
    rests(&upstream, 10).await;
}

#[tokio::test]
async fn an_answer_between_failures_resets_the_count() {
    let listener = Listener::new().await;
    let (url, address) = (
        listener.url("http"),
        listener.0.local_addr().expect("it is bound"),
    );
    drop(listener);
    let upstream = upstream(&url, Timer::with_limits(&LIMITS));
    fails(&upstream, 4).await;
    let listener = Listener(TcpListener::bind(address).await.expect("the port is still free"));
    let busy = "HTTP/1.1 400 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    assert_eq!(listener.answer(&upstream, busy).await.0.status, 400);
    drop(listener);
    fails(&upstream, 5).await;
    rests(&upstream, 10).await;
}

#[tokio::test]
async fn silence_is_a_failure_and_an_unsendable_request_is_not() {
    let listener = Listener::new().await;
    let clock = Timer::with_limits(&[CONNECT]);
    let upstream = upstream(&listener.url("http"), clock.clone());
    for _ in 0..6 {
        let error = upstream
            .send(with_headers(&[("x-bad", "\n")]))
            .await
            .expect_err("no such header");
        assert!(matches!(error, UpstreamError::Unreachable { .. }), "{error:?}");
    }
    for _ in 0..5 {
        let error = upstream.send(request()).await.expect_err("it is silent");
        assert_eq!(error, UpstreamError::TimedOut { after: HEAD });
    }
    // None of them was retried: the server may have worked on it.
    assert_eq!(clock.waits(), [HEAD; 5]);
    rests(&upstream, 10).await;
}
