//! Token counts as each server reports them.

use prefix::stream::Usage;
use transcript::dialect::Dialect::{self, Anthropic, OpenAi, OpenAiResponses};

use super::{streamed, whole};

/// Prompt, cached and completion.
fn said(dialect: Dialect, fields: &str) -> [Option<u64>; 3] {
    counts(whole(dialect, &format!("{{{fields}}}")).usage)
}

fn counts(usage: Usage) -> [Option<u64>; 3] {
    [usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens]
}

#[test]
fn openai() {
    let usage =
        r#""usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}"#;
    assert_eq!(said(OpenAi, usage), [Some(9), Some(4), Some(2)]);
    let vllm = r#""usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":null}"#;
    assert_eq!(said(OpenAi, vllm), [Some(9), None, Some(2)]);
    assert_eq!(said(OpenAi, r#""usage":null"#), [None; 3]);
    assert_eq!(
        said(OpenAi, r#""usage":{"prompt_tokens":-1,"completion_tokens":"2"}"#),
        [None; 3]
    );
}

#[test]
fn llama_cpps_timings_supply_missing_counts() {
    let timings = r#""timings":{"cache_n":236,"prompt_n":14,"predicted_n":35}"#;
    assert_eq!(said(OpenAi, timings), [Some(250), Some(236), Some(35)]);
    let usage = r#""usage":{"prompt_tokens":251,"completion_tokens":36}"#;
    let both = format!("{usage},{timings}");
    assert_eq!(said(OpenAi, &both), [Some(251), Some(236), Some(36)]);
    let cached = r#""usage":{"prompt_tokens":251,"prompt_tokens_details":{"cached_tokens":200}}"#;
    let both = format!("{cached},{timings}");
    assert_eq!(said(OpenAi, &both), [Some(251), Some(200), Some(35)]);
    // Its newly computed tokens are not the whole prompt.
    assert_eq!(said(OpenAi, r#""timings":{"prompt_n":14}"#), [None; 3]);
}

#[test]
fn deepseek_counts_hits_and_misses() {
    let usage = r#""usage":{"prompt_tokens":20,"prompt_cache_hit_tokens":12,"prompt_cache_miss_tokens":8}"#;
    assert_eq!(said(OpenAi, usage), [Some(20), Some(12), None]);
    let usage = r#""usage":{"prompt_cache_hit_tokens":12,"prompt_cache_miss_tokens":8}"#;
    assert_eq!(said(OpenAi, usage), [Some(20), Some(12), None]);
}

#[test]
fn anthropic_adds_up_its_three_counts() {
    let usage = r#""usage":{"input_tokens":3,"cache_read_input_tokens":1000,"cache_creation_input_tokens":200,"output_tokens":7}"#;
    assert_eq!(said(Anthropic, usage), [Some(1203), Some(1000), Some(7)]);
    assert_eq!(
        said(Anthropic, r#""usage":{"input_tokens":3}"#),
        [Some(3), None, None]
    );
}

#[test]
fn anthropic_may_report_the_counts_first_or_last() {
    let start =
        |usage: &str| format!("data: {{\"type\":\"message_start\",\"message\":{{\"usage\":{usage}}}}}\n\n");
    let delta = |usage: &str| format!("data: {{\"type\":\"message_delta\",\"usage\":{usage}}}\n\n");
    let full = r#"{"input_tokens":3,"cache_read_input_tokens":10,"output_tokens":1}"#;
    for stream in [
        [start(full), delta(r#"{"output_tokens":7}"#)],
        [start(full), delta(r#"{"input_tokens":0,"output_tokens":7}"#)],
        [
            start(r#"{"input_tokens":0,"output_tokens":0}"#),
            delta(r#"{"input_tokens":3,"cache_read_input_tokens":10,"output_tokens":7}"#),
        ],
    ] {
        let usage = streamed(Anthropic, &stream.concat()).usage;
        assert_eq!(counts(usage), [Some(13), Some(10), Some(7)]);
    }
}

#[test]
fn responses() {
    let usage =
        r#""usage":{"input_tokens":328,"input_tokens_details":{"cached_tokens":256},"output_tokens":52}"#;
    assert_eq!(said(OpenAiResponses, usage), [Some(328), Some(256), Some(52)]);
}

#[test]
fn huge_counts_do_not_overflow() {
    let most = u64::MAX;
    let usage = format!(r#""usage":{{"input_tokens":{most},"cache_read_input_tokens":{most}}}"#);
    assert_eq!(said(Anthropic, &usage), [Some(most), Some(most), None]);
    let timings = format!(r#""timings":{{"cache_n":{most},"prompt_n":{most}}}"#);
    assert_eq!(said(OpenAi, &timings), [Some(most), Some(most), None]);
}
