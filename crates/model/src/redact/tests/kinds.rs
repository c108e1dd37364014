//! Number of detected kinds of secrets, and of harmless texts that stay, on two lists written
//! before the rules. The rules were tuned on the odd lines; the even lines are unseen.

use std::iter::repeat_with;

use super::super::redact;

const SECRETS: &str = include_str!("secrets.txt");
const HARMLESS: &str = include_str!("harmless.txt");
const FRESH_SECRETS: &str = include_str!("fresh-secrets.txt");
const FRESH_HARMLESS: &str = include_str!("fresh-harmless.txt");

const MIXED: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/";

/// The characters that a placeholder stands for: a range of [`MIXED`], or a named alphabet.
fn alphabet(class: char) -> &'static [u8] {
    match class {
        'A' => &MIXED[..62],
        'a' => &MIXED[26..62],
        'U' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        'L' => &MIXED[..52],
        'D' => &MIXED[52..62],
        'h' => b"0123456789abcdef",
        'W' => &MIXED[..64],
        'B' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        other => panic!("no alphabet {other}"),
    }
}

/// The text of a line with its `<A40>` filled in, the same at every run.
fn filled(line: &str, state: &mut u64) -> String {
    let mut next = || {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(*state >> 40).expect("24 bits")
    };
    let mut out = String::new();
    for (at, piece) in line.split('<').enumerate() {
        let slot = piece.split_once('>').and_then(|(slot, rest)| {
            let class = slot.chars().next()?;
            let count: usize = slot[class.len_utf8()..].parse().ok()?;
            Some((alphabet(class), count, rest))
        });
        let Some((letters, count, rest)) = slot else {
            out.push_str(if at == 0 { "" } else { "<" });
            out.push_str(piece);
            continue;
        };
        out.extend(repeat_with(|| char::from(letters[next() % letters.len()])).take(count));
        out.push_str(rest);
    }
    out.replace("\\n", "\n")
}

fn lines(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().filter(|line| !line.starts_with('#'))
}

/// Whether eight consecutive characters of the secret, or all of a shorter one, are still in the
/// text.
fn survives(secret: &str, out: &str) -> bool {
    let chars: Vec<char> = secret.chars().collect();
    chars
        .windows(chars.len().min(8))
        .any(|window| out.contains(&window.iter().collect::<String>()))
}

/// The odd and the even lines whose secret is kept.
fn kept(list: &'static str, state: &mut u64) -> [Vec<&'static str>; 2] {
    let mut kept = [Vec::new(), Vec::new()];
    for (at, line) in lines(list).enumerate() {
        let (name, text) = line.split_once('\t').expect("a name, a tab, a text");
        let text = filled(text, state);
        let (before, rest) = text.split_once('⟦').expect("a beginning");
        let (secret, after) = rest.split_once('⟧').expect("an end");
        if survives(secret, &redact(&format!("{before}{secret}{after}"))) {
            kept[at % 2].push(name);
        }
    }
    kept
}

/// The odd and the even lines that were changed.
fn changed(list: &'static str, state: &mut u64) -> [Vec<String>; 2] {
    let mut changed = [Vec::new(), Vec::new()];
    for (at, line) in lines(list).enumerate() {
        let text = filled(line, state);
        if redact(&text) != text {
            changed[at % 2].push(format!("{text} -> {}", redact(&text)));
        }
    }
    changed
}

#[test]
fn every_listed_secret_is_found_and_no_harmless_text() {
    assert_eq!((lines(SECRETS).count(), lines(HARMLESS).count()), (89, 115));
    assert_eq!(
        (kept(SECRETS, &mut 17), changed(HARMLESS, &mut 17)),
        Default::default()
    );
}

/// Counts on these lists when they were new; no rule was changed for them.
#[test]
fn the_counts_on_unseen_lists_stay() {
    assert_eq!(
        (lines(FRESH_SECRETS).count(), lines(FRESH_HARMLESS).count()),
        (60, 60)
    );
    let (kept, changed) = (kept(FRESH_SECRETS, &mut 23), changed(FRESH_HARMLESS, &mut 23));
    let count = |lists: &[usize; 2]| lists.iter().sum::<usize>();
    let found = 60 - count(&[kept[0].len(), kept[1].len()]);
    let wrong = count(&[changed[0].len(), changed[1].len()]);
    assert_eq!((found, wrong), (49, 1), "{kept:?} {changed:?}");
}
