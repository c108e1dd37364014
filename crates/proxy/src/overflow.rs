//! A server's error that a prompt is too long, and the window that the error names.
//!
//! Owns: the error texts of servers (`overflow.txt`). Never: the reaction (`turn`).

use std::sync::LazyLock;

use crate::conversation::Overflow;
use ports::UpstreamAnswer;
use serde_json::Value;
use transcript::lists::Lists;

use crate::after;

/// No server has so small a window: a smaller number means something else.
const WINDOW_LEAST: usize = 256;

static TABLES: LazyLock<Lists> = LazyLock::new(|| Lists::read(include_str!("overflow.txt")));

/// The overflow that an answer reports, if it reports one; and the unchanged answer.
pub(crate) async fn read(answer: UpstreamAnswer) -> (Option<Overflow>, UpstreamAnswer) {
    if !matches!(answer.status, 400 | 413 | 422) {
        return (None, answer);
    }
    let (said, answer) = after::buffered(answer).await;
    (understood(&said), answer)
}

fn understood(said: &str) -> Option<Overflow> {
    let value: Value = serde_json::from_str(said).ok()?;
    let error = value.get("error").unwrap_or(&value);
    let tokens = |field: &str| usize::try_from(error[field].as_u64()?).ok();
    if let Some(window_tokens) = tokens("n_ctx").filter(|window| *window >= WINDOW_LEAST) {
        return Some(Overflow {
            window_tokens,
            prompt_tokens: tokens("n_prompt_tokens"),
        });
    }
    let message = ["message", "detail"]
        .iter()
        .find_map(|field| error[*field].as_str());
    let message = message.or(error.as_str())?.to_lowercase();
    let behind = |words: &str| message.split_once(words).map(|(_, rest)| rest);
    let first = |list: &str| TABLES.list(list).iter().find_map(|words| number(behind(words)?));
    // Anthropic's sum of prompt and answer length.
    let sum = || number(behind("exceed context limit: ")?.split_once(" > ")?.1);
    let window = first("window").or_else(sum);
    Some(Overflow {
        window_tokens: window.filter(|window| *window >= WINDOW_LEAST)?,
        prompt_tokens: first("prompt"),
    })
}

/// The number at the beginning of a text.
fn number(text: &str) -> Option<usize> {
    let digits: String = text
        .chars()
        .take_while(|c| c.is_ascii_digit() || matches!(c, ',' | '_'))
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Error texts, the window, and the tokens of the request if the text contains them.
    const SAID: [(&str, usize, usize); 12] = [
        (
            "request (9001 tokens) exceeds the available context size (4096 tokens)",
            4_096,
            0,
        ),
        (
            "This model's maximum context length is 16385 tokens. However, your messages resulted in 26620 tokens.",
            16_385,
            26_620,
        ),
        (
            "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the \
             messages, 10000 in the completion).",
            16_384,
            112_946,
        ),
        (
            "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens.",
            8_192,
            9_000,
        ),
        (
            "The prompt (total length 25938) is too long to fit into the model (context length 4096).",
            4_096,
            25_938,
        ),
        (
            "prompt is too long: 208,310 tokens > 200000 maximum",
            200_000,
            208_310,
        ),
        (
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
            200_000,
            188_240,
        ),
        (
            "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
            1_048_576,
            1_048_577,
        ),
        (
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            32_768,
            40_000,
        ),
        (
            "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
            8_192,
            9_000,
        ),
        (
            "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
            131_072,
            140_000,
        ),
        (
            "Trying to keep the first 5000 tokens. However, the model is loaded with context length of only 4096 tokens",
            4_096,
            0,
        ),
    ];

    fn read(said: &str) -> Option<(usize, Option<usize>)> {
        let overflow = understood(said)?;
        Some((overflow.window_tokens, overflow.prompt_tokens))
    }

    #[test]
    fn llama_cpp_reports_an_overflow_in_fields() {
        let said = r#"{"error":{"code":400,"type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":4096}}"#;
        assert_eq!(read(said), Some((4_096, Some(9_001))));
    }

    #[test]
    fn an_overflow_is_read_from_the_error_texts_of_servers() {
        for (message, window, prompt) in SAID {
            let expected = Some((window, Some(prompt).filter(|prompt| *prompt > 0)));
            let forms = [
                json!({"error": {"message": message}}),
                json!({"error": message}),
                json!({"message": message}),
            ];
            for said in forms {
                assert_eq!(read(&said.to_string()), expected, "{said}");
            }
        }
    }

    #[test]
    fn other_errors_are_no_overflow() {
        for said in [
            r#"{"error":{"message":"Your input exceeds the context window of this model."}}"#,
            r#"{"error":{"message":"max_tokens must be at least 1"}}"#,
            r#"{"error":{"message":"maximum context length is 7"}}"#,
            "maximum context length is 4096 tokens",
        ] {
            assert_eq!(understood(said), None, "{said}");
        }
    }
}
