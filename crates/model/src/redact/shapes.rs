//! Secrets with a known form, in any context.
//!
//! Owns: the forms. Never: names of variables; see `assign`.

use std::sync::LazyLock;

use super::assign::is_random;
use super::{FoundSecret, LateRegex, hints_at};

/// What else a match has to look like.
#[derive(Debug, Clone, Copy)]
enum Look {
    Any,
    /// With a digit in it: words joined by hyphens have none.
    Digit,
    /// Drawn by lot.
    Random,
}

/// A form: group 1 is the secret where there is a group, else the whole match.
struct SecretShape {
    kind: &'static str,
    hints: &'static [&'static str],
    regex: LateRegex,
    look: Look,
}

/// Kind, hints, pattern, look. No pattern looks far past the end of its match, so a scan is linear. A match has one of the hints in
/// it, which are in small letters: to compile all patterns takes longer than the rest of storing a message.
const SHAPES: &[(&str, &[&str], &str, Look)] = &[
    (
        "private-key",
        &["-----begin"],
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash):[^\n]*\n|\\[nr]|\s)*[A-Za-z0-9+/=]{10}[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
        Look::Any,
    ),
    // Of PuTTY, OpenVPN, SSH2 and minisign.
    (
        "private-key",
        &["private-lines:"],
        r"Private-Lines: [0-9]{1,3}\s{1,2}((?:[A-Za-z0-9+/=]{4,64}\s{0,2}){1,200})",
        Look::Digit,
    ),
    (
        "private-key",
        &["begin openvpn", "begin ssh2"],
        r"-{4,5} ?BEGIN (?:OpenVPN [A-Za-z0-9 -]{0,40}key[A-Z0-9 ]{0,4}|SSH2 [A-Z ]{0,20}PRIVATE KEY) ?-{4,5}\s{1,2}((?:[A-Za-z-]{1,20}: [^\n]{0,100}\n)*[A-Za-z0-9+/=\s]{20,8000})",
        Look::Digit,
    ),
    (
        "private-key",
        &["secret key"],
        r"secret key\s{0,2}\n(RW[A-Za-z0-9+/=]{50,400})",
        Look::Any,
    ),
    (
        "anthropic-key",
        &["sk-ant-"],
        r"sk-ant-[A-Za-z0-9_-]{8,}",
        Look::Any,
    ),
    (
        "openai-key",
        &["sk-"],
        r"(?-u:\b)sk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{16,}",
        Look::Digit,
    ),
    (
        "aws-key",
        &["akia", "asia", "aroa", "aida", "abia", "acca"],
        r"(?-u:\b)(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)",
        Look::Any,
    ),
    (
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
        Look::Any,
    ),
    (
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "gloas-", "glft-", "glsoat-", "glimt-",
            "glagent-", "glffct-",
        ],
        r"(?-u:\b)gl(?:pat|dt|rt|ptt|cbt|oas|ft|soat|imt|agent|ffct)-[A-Za-z0-9_-]{16,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
        Look::Any,
    ),
    (
        "slack-token",
        &["xox", "xapp-"],
        r"(?-u:\b)(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}",
        Look::Digit,
    ),
    (
        "slack-webhook",
        &["hooks.slack.com/"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{16,})",
        Look::Any,
    ),
    (
        "google-key",
        &["aiza"],
        r"(?-u:\b)AIza[A-Za-z0-9_-]{30,}",
        Look::Any,
    ),
    (
        "google-token",
        &["ya29.", "gocspx-", "aq.ab"],
        r"(?-u:\b)(?:ya29\.[A-Za-z0-9_-]{16,}|GOCSPX-[A-Za-z0-9_-]{16,}|AQ\.Ab[A-Za-z0-9_-]{30,})",
        Look::Any,
    ),
    (
        "stripe-key",
        &["k_live_", "k_test_", "whsec_"],
        r"(?-u:\b)(?:[spr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,})",
        Look::Any,
    ),
    (
        "sendgrid-key",
        &["sg."],
        r"(?-u:\b)SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        Look::Any,
    ),
    ("npm-token", &["npm_"], r"(?-u:\b)npm_[A-Za-z0-9]{30,}", Look::Any),
    (
        "pypi-token",
        &["pypi-"],
        r"(?-u:\b)pypi-[A-Za-z0-9_-]{30,}",
        Look::Digit,
    ),
    (
        "huggingface-token",
        &["hf_"],
        r"(?-u:\b)hf_[A-Za-z0-9]{24,}",
        Look::Any,
    ),
    (
        "telegram-token",
        &[":"],
        r"(?-u:\b)[0-9]{8,10}:[A-Za-z0-9_-]{35}",
        Look::Any,
    ),
    (
        "age-key",
        &["age-secret-key-"],
        r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
        Look::Any,
    ),
    (
        "jwt",
        &["eyj"],
        r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
        Look::Any,
    ),
    (
        "auth-header",
        &["authorization"],
        r#"(?i)authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:bearer|basic|token|digest|apikey|negotiate|ssws)\s{1,4}([^\s"'<>\[\]{}$]{6,})"#,
        Look::Any,
    ),
    (
        "auth-header",
        &["authorization"],
        r#"(?i)authorization["']?\s{0,4}[:=]\s{0,4}["']?([^\s"'<>\[\]{}$]{6,})"#,
        Look::Digit,
    ),
    (
        "bearer",
        &["bearer"],
        r"(?i)(?-u:\b)bearer\s{1,4}([A-Za-z0-9._~+/=-]{12,})",
        Look::Digit,
    ),
    (
        "basic-auth",
        &["basic"],
        r#"(?i)["':=]\s{0,4}basic\s{1,4}([A-Za-z0-9+/=]{12,})"#,
        Look::Any,
    ),
    ("api-key", &[], VENDORS, Look::Digit),
    ("api-key", &[], VENDORS_LIKE_WORDS, Look::Random),
    ("api-key", &[], VENDORS_IN_HEX, Look::Digit),
    ("api-key", &[], ANY_VENDOR, Look::Random),
    (
        "azure-key",
        &["key=", "q~"],
        r"(?-u:\b)(?:(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40,}={0,2})|[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})",
        Look::Digit,
    ),
    (
        "discord-token",
        &["."],
        r"(?-u:\b)[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}",
        Look::Digit,
    ),
    (
        "webhook",
        &["discord", "hooks.zapier.com", "webhook.office.com"],
        r"(?:discord(?:app)?\.com/api/webhooks/[0-9]{10,}|hooks\.zapier\.com/hooks/catch|webhook\.office\.com/webhookb2)/([A-Za-z0-9/@_-]{16,})",
        Look::Digit,
    ),
    (
        "wallet-key",
        &[],
        r"(?-u:\b)(?:[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,}|[5KL][1-9A-HJ-NP-Za-km-z]{50,51}(?-u:\b)|nsec1[a-z0-9]{58})",
        Look::Random,
    ),
    (
        "seed-phrase",
        &["phrase", "words", "mnemonic"],
        r#"(?i)(?:(?:seed|recovery|backup|secret|wallet) (?:phrase|words)|mnemonic)(?: (?:is|was|are))?\s?[:=]?\s{1,4}["'“]?((?:(?:[0-9]{1,2}[.)] ?)?[a-z]{3,8},?\s{1,2}){11,23}(?:[0-9]{1,2}[.)] ?)?[a-z]{3,8}(?-u:\b))"#,
        Look::Any,
    ),
    (
        "signed-url",
        &["="],
        r"(?i)[?&](?:sig|signature|x-amz-(?:signature|security-token)|x-goog-signature|access_token|auth|key)=([A-Za-z0-9%_.~+/-]{16,})",
        Look::Digit,
    ),
    (
        "cookie",
        &["cookie"],
        r#"(?i)(?-u:\b)cookie["']?:\s{0,4}["']?([^\s"'=;]{1,80}=[^\n"']{12,4000})"#,
        Look::Digit,
    ),
    (
        "wifi-password",
        &["wifi:"],
        r"WIFI:[^\n]{0,100}?P:([^;\n]{4,100});",
        Look::Any,
    ),
    (
        "pin",
        &["pin", "cvv", "cvc"],
        r"(?i)(?-u:\b)(?:(?:pin(?:[ -]?code| number)?(?: (?:is|was|ist|lautet|est|es|è|é)|\s?[:=])\s|cv[vc]2?\s?[:=]?\s)([0-9]{3,8}))(?-u:\b)",
        Look::Any,
    ),
    // A number after some words, where it ends the clause; and right after the name, in capitals.
    (
        "pin",
        &["pin"],
        r"(?im)(?-u:\b)pin(?:[ -]?(?:code|number|nummer))?(?:\s[\p{L}'’-]{1,15}){1,6}?(?:\s(?:is|was|to|now|ist|lautet|auf|est|es|è|é|:|=)|:)\s([0-9]{4,8})(?:\s?$|[.,;!?)\x22'](?:\s|$)|\s(?:and|or|but|und|et|y|e)\s)",
        Look::Any,
    ),
    (
        "pin",
        &["pin "],
        r"(?m)(?-u:\b)PIN ([0-9]{4})(?:\s?$|[.,;!?)\x22'](?:\s|$)|\s(?:and|or|but)\s)",
        Look::Any,
    ),
    (
        "password-hash",
        &["$2", "$1$", "$5$", "$6$", "$7$", "$y$", "$apr1$", "$argon2"],
        r"\$(?:2[abxy]|[1567y]|apr1|argon2[a-z]{1,2})\$[^\s:'\x22$]{1,60}(?:\$[^\s:'\x22]{20,200}|[./A-Za-z0-9]{30,80})",
        Look::Any,
    ),
    (
        "password",
        &["<passw", "<secret", "<token", "<api"],
        r"(?i)<(?:password|passwd|secret|token|api_?key)>([^<\s${]{4,400})</",
        Look::Any,
    ),
    (
        "password",
        &["value"],
        r#"(?i)(?-u:\b)(?:name|key)["']?\s?[:=]\s?["']?[a-z0-9_.:-]{0,60}(?:password|secret|token|api_?key)["']?[,\s]{1,20}["']?value["']?\s?[:=]\s?["']?([^\s"'<>{}$]{4,400})"#,
        Look::Any,
    ),
    // A flag and its value; a call, and a statement of SQL, with the value in quotes.
    (
        "password",
        &["--"],
        r#"(?:^|\s)--(?:[a-z0-9]{1,20}-){0,3}(?:password|passwd|passphrase|passcode|pass|pwd|secret|token|api-?key|access-key|private-key|auth-key|pin)\s{1,4}["']?([^\s"'$<{\[(-][^\s"'$<{]{3,200})"#,
        Look::Digit,
    ),
    (
        "password",
        &["pass", "pwd"],
        r#"(?i)(?:password|passwd|passphrase|pwd)["']?\s?[,(]\s?["']([^\s"'<>{}$]{6,200})["']"#,
        Look::Digit,
    ),
    (
        "secret",
        &["secret", "token", "key"],
        r#"(?i)(?:secret|token|api_?key)["']?\s?[,(]\s?["']([^\s"'<>{}$]{16,200})["']"#,
        Look::Random,
    ),
    (
        "password",
        &["identified", "password"],
        r"(?i)(?-u:\b)(?:identified\s{1,4}(?:with\s{1,4}[a-z0-9_'-]{1,40}\s{1,4})?by|(?:with|encrypted|role|user)\s[^;\n]{0,80}?password)\s{1,4}'([^'\n]{4,200})'",
        Look::Any,
    ),
    // Files and commands that take a name and a password.
    (
        "password",
        &["login"],
        r"(?-u:\b)login\s{1,8}\S{1,100}\s{1,8}password\s{1,8}(\S{4,100})",
        Look::Any,
    ),
    (
        "password",
        &[":*:", ":0", ":1", ":2", ":3", ":4", ":5", ":6", ":7", ":8", ":9"],
        r"(?-u:\b)(?:localhost|\*|[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}):(?:[0-9]{4,5}|\*):[^:\s]{1,63}:[^:\s]{1,63}:([^:\s]{4,100})",
        Look::Digit,
    ),
    (
        "password",
        &["curl"],
        r#"(?-u:\b)curl(?-u:\b)[^\n]{0,300}?\s(?:-u|--user|-U|--proxy-user)[ =]?["']?[^\s:"'$]{1,100}:([^\s"'$<{]{3,100})"#,
        Look::Any,
    ),
    (
        "password",
        &[
            "sshpass", "redis-cli", "plink", "mysql", "docker login", "podman login",
        ],
        r#"(?-u:\b)(?:sshpass\s{1,4}-p ?|redis-cli[^\n]{0,100}?\s-a |plink[^\n]{0,100}?\s-pw |mysql(?:dump|admin)?[^\n]{0,100}?\s-p|(?:docker|podman) login[^\n]{0,200}?\s-p )["']?([^\s"'$<{]{4,100})"#,
        Look::Any,
    ),
    (
        "url-password",
        &["://"],
        r"(?i)(?-u:\b)[a-z][a-z0-9+.-]{1,20}://[^\s/:@\x22'<>]{0,100}:([^\s/${}<>*\x22'][^\s/\x22'<>]{0,200})@",
        Look::Any,
    ),
];

/// Keys of services that begin in a way of their own.
const VENDORS: &str = concat!(
    r"(?-u:\b)(?:xai-|gsk_|pplx-|dckr_[po]at_|fig[do]_|glsa_|glc_|hv[sbr]\.|ntn_|lin_(?:api|oauth)_|nfp_|NRAK-|PMAK-|A[TC][AC]TT3x|",
    r"tskey-[a-z]{2,12}-|dp\.[a-z]{2,5}\.|sntry[su]_|pscale_(?:tkn|oauth|pw)_|ops_ey|vercel_[a-z_]{2,12}_|FlyV1 |fm[12][ar]?_|fo1_|",
    r"1//0|xkeysib-|CFPAT-|CCIPAT_|bkua_|HRKU-|AstraCS:|nvapi-|tvly-|lsv2_[a-z]{2}_|pcsk_|tgp_v1_|dt0c01\.|IQoJb3JpZ2lu|",
    r"sb_secret_|csk-|[sp]k-lf-|rpa_|e2b_|ctx7sk[-_]|ABSK|bedrock-api-key-|cpk_|sntryi_|zpka_|hvr\.|LTAI5t|AKID|",
    r"pat[A-Za-z0-9]{14}\.|[A-Za-z0-9]{14}\.atlasv1\.)[A-Za-z0-9_+/=-]{20,}(?:[.:][A-Za-z0-9_+/=-]{16,}){0,3}",
);
/// The same where other words begin so.
const VENDORS_LIKE_WORDS: &str = concat!(
    r"(?-u:\b)(?:secret_|ATBB|cio|sq0[a-z]{3}-|EAA|sl\.|fw_|jina_|ph[cx]_|rnd_|re_|SK|oy2|cf(?:ut|at|k)_|sk\.)",
    r"[A-Za-z0-9_+/=-]{24,}",
);
/// The same where only the digits of hexadecimal numbers follow, or go before.
const VENDORS_IN_HEX: &str = concat!(
    r"(?-u:\b)(?:(?:do[opr]_v1_|shp(?:at|ca|pa|ss|tka)_|dapi|sbp_|rubygems_|sk_|pul-|key-|SK|fc-|r8_|v1\.0-)[0-9a-f]{32,}|",
    r"r8_[A-Za-z0-9]{37}|[0-9a-f]{32}-us[0-9]{1,2}(?-u:\b))",
);

/// A service that no list has: a word or two, and after them more characters than an id has.
const ANY_VENDOR: &str = r"(?:^|[^A-Za-z0-9/+_-])((?:[A-Za-z]{2,12}[_-]){1,3}[A-Za-z0-9]{32,200})(?-u:\b)";

static FORMS: LazyLock<Vec<SecretShape>> = LazyLock::new(|| {
    let form = |&(kind, hints, pattern, look): &(_, _, _, _)| SecretShape {
        kind,
        hints,
        regex: LateRegex::new(pattern),
        look,
    };
    SHAPES.iter().map(form).collect()
});

/// Appends the secrets of `text`, shape by shape; `small` is the text in small letters.
pub(super) fn find(text: &str, small: &str, secrets: &mut Vec<FoundSecret>) {
    for shape in FORMS.iter().filter(|shape| hints_at(small, shape.hints)) {
        for groups in shape.regex.get().captures_iter(text) {
            let Some(hit) = groups.get(1).or_else(|| groups.get(0)) else {
                continue;
            };
            let looks = match shape.look {
                Look::Any => true,
                Look::Digit => hit.as_str().bytes().any(|byte| byte.is_ascii_digit()),
                Look::Random => is_random(hit.as_str()),
            };
            if looks {
                secrets.push(FoundSecret {
                    range: hit.range(),
                    kind: shape.kind,
                });
            }
        }
    }
}

#[cfg(test)]
pub(super) fn patterns() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    SHAPES.iter().map(|(_, hints, pattern, _)| (*pattern, *hints))
}
