//! How wide the windows of known models are.
//!
//! Owns: the table. Never: a guess for an unknown model.

/// Beginnings of models' names, after the names of routers and vendors, with their windows in tokens. The longest match
/// decides. Vendors' published values; for models with a wider window at a higher price or on request, the common one.
const WINDOWS: &[(&str, usize)] = &[
    ("chatgpt-4o", 128_000),
    ("claude", 200_000),
    ("codestral", 256_000),
    ("command-r", 128_000),
    ("deepseek", 128_000),
    ("gemini", 1_048_576),
    ("gemini-1.5-pro", 2_097_152),
    ("gemma-2", 8_192),
    ("gemma2", 8_192),
    ("gemma-3", 131_072),
    ("gemma3", 131_072),
    ("glm-4.5", 131_072),
    ("gpt-3.5-turbo", 16_385),
    ("gpt-35-turbo", 16_385),
    ("gpt-4", 8_192),
    ("gpt-4-0125-preview", 128_000),
    ("gpt-4-1106-preview", 128_000),
    ("gpt-4-32k", 32_768),
    ("gpt-4-turbo", 128_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4.5", 128_000),
    ("gpt-4o", 128_000),
    ("gpt-5", 400_000),
    ("gpt-5-chat", 128_000),
    ("gpt-oss", 131_072),
    ("grok-3", 131_072),
    ("grok-4", 256_000),
    ("grok-code-fast", 256_000),
    ("kimi-k2", 131_072),
    ("llama-3", 8_192),
    ("llama3", 8_192),
    ("llama-3.1", 131_072),
    ("llama3.1", 131_072),
    ("llama-3.2", 131_072),
    ("llama3.2", 131_072),
    ("llama-3.3", 131_072),
    ("llama3.3", 131_072),
    ("ministral", 131_072),
    ("mistral-7b", 32_768),
    ("mistral-large", 131_072),
    ("mistral-medium", 131_072),
    ("mistral-nemo", 131_072),
    ("mistral-small", 131_072),
    ("mixtral-8x7b", 32_768),
    ("o1", 200_000),
    ("o1-mini", 128_000),
    ("o1-preview", 128_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
    ("phi-4", 16_384),
    ("phi4", 16_384),
    ("qwen2.5", 32_768),
    ("qwen3", 32_768),
    ("qwen3-coder", 262_144),
];

/// The window of a model of that name in tokens, if it is known. Case, routers and vendors in front, and what follows the family
/// do not matter: `openrouter/openai/gpt-5-mini:free`, `us.anthropic.claude-opus-4`, `llama3.1:8b`.
pub fn known_window(model: &str) -> Option<usize> {
    let name = model.trim().to_lowercase();
    let starts = name
        .match_indices(['/', '.', ':'])
        .map(|(at, mark)| at + mark.len());
    let tails = std::iter::once(0).chain(starts).map(|start| &name[start..]);
    let fit = |tail: &str| {
        let fits = |family: &str| {
            tail.strip_prefix(family)
                .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        WINDOWS
            .iter()
            .filter(|(family, _)| fits(family))
            .max_by_key(|(family, _)| family.len())
    };
    tails.filter_map(fit).map(|(_, window)| *window).next()
}
