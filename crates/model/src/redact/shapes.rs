//! Secrets with a known form, in any context.
//!
//! Owns: the forms. Never: names of variables; see `assign`.

use std::sync::LazyLock;

use regex::Regex;

use super::FoundSecret;

/// A form: group 1 is the secret where there is a group, else the whole match.
struct SecretShape {
    kind: &'static str,
    regex: Regex,
    /// Only with a digit in it: words joined by hyphens have none.
    digit: bool,
}

/// Kind, pattern, whether a digit is required. No pattern looks far past the end of its match, so a scan is linear.
const SHAPES: &[(&str, &str, bool)] = &[
    (
        "private-key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash):[^\n]*\n|[A-Za-z0-9+/=\s\\])*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
        false,
    ),
    ("anthropic-key", r"sk-ant-[A-Za-z0-9_-]{8,}", false),
    (
        "openai-key",
        r"(?-u:\b)sk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{16,}",
        true,
    ),
    (
        "aws-key",
        r"(?-u:\b)(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}(?-u:\b)",
        false,
    ),
    (
        "github-token",
        r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
        false,
    ),
    (
        "gitlab-token",
        r"(?-u:\b)gl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_-]{16,}",
        false,
    ),
    (
        "slack-token",
        r"(?-u:\b)(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}",
        true,
    ),
    (
        "slack-webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{16,})",
        false,
    ),
    ("google-key", r"AIza[A-Za-z0-9_-]{30,}", false),
    (
        "google-token",
        r"(?-u:\b)(?:ya29\.[A-Za-z0-9_-]{16,}|GOCSPX-[A-Za-z0-9_-]{16,})",
        false,
    ),
    (
        "stripe-key",
        r"(?-u:\b)(?:[spr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,})",
        false,
    ),
    (
        "sendgrid-key",
        r"(?-u:\b)SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        false,
    ),
    ("npm-token", r"(?-u:\b)npm_[A-Za-z0-9]{30,}", false),
    ("pypi-token", r"(?-u:\b)pypi-[A-Za-z0-9_-]{30,}", true),
    ("huggingface-token", r"(?-u:\b)hf_[A-Za-z0-9]{24,}", false),
    (
        "telegram-token",
        r"(?-u:\b)[0-9]{8,10}:[A-Za-z0-9_-]{35}(?-u:\b)",
        false,
    ),
    ("age-key", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}", false),
    (
        "jwt",
        r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
        false,
    ),
    (
        "auth-header",
        r#"(?i)authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:(?:bearer|basic|token|digest|apikey|negotiate)\s{1,4})?([^\s"'<>\[\]{}$]{6,})"#,
        false,
    ),
    (
        "bearer",
        r"(?i)(?-u:\b)bearer\s{1,4}([A-Za-z0-9._~+/=-]{12,})",
        true,
    ),
    (
        "basic-auth",
        r#"(?i)["':=]\s{0,4}basic\s{1,4}([A-Za-z0-9+/=]{12,})"#,
        false,
    ),
    (
        "url-password",
        r"(?i)(?-u:\b)[a-z][a-z0-9+.-]{1,20}://[^\s/:@\x22'<>]{0,100}:([^\s/${}<>*\x22'][^\s/\x22'<>]{0,200})@",
        false,
    ),
];

static COMPILED: LazyLock<Vec<SecretShape>> = LazyLock::new(|| {
    let compile = |&(kind, pattern, digit): &(&'static str, &str, bool)| SecretShape {
        kind,
        regex: Regex::new(pattern).expect("a test compiles every shape"),
        digit,
    };
    SHAPES.iter().map(compile).collect()
});

/// Appends the secrets of `text`, shape by shape.
pub(super) fn find(text: &str, secrets: &mut Vec<FoundSecret>) {
    for shape in COMPILED.iter() {
        for groups in shape.regex.captures_iter(text) {
            let Some(hit) = groups.get(1).or_else(|| groups.get(0)) else {
                continue;
            };
            if !shape.digit || hit.as_str().bytes().any(|byte| byte.is_ascii_digit()) {
                secrets.push(FoundSecret {
                    range: hit.range(),
                    kind: shape.kind,
                });
            }
        }
    }
}
