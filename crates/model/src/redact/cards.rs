//! Payment card numbers: digits, perhaps in groups, that begin like a card's and pass the Luhn
//! check.
//!
//! Owns: distinguishing a card from other long numbers. Never: other numbers of a person.

use super::FoundSecret;

/// A run of digits in a longer run with single spaces, hyphens or dots as dividers, in bytes.
struct Group {
    start: usize,
    end: usize,
}

/// Appends the card numbers of `text`. A card number can be among other numbers: every window of
/// complete groups is checked.
pub(super) fn find(text: &str, secrets: &mut Vec<FoundSecret>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let (groups, end) = run(bytes, at);
        // A part of a word, an identifier or a decimal number is no card.
        let glued =
            |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        if !glued(before) && before != Some(&b'.') && !glued(bytes.get(end)) {
            windows(bytes, &groups, secrets);
        }
        at = end;
    }
}

fn run(bytes: &[u8], start: usize) -> (Vec<Group>, usize) {
    let mut groups = Vec::new();
    let mut at = start;
    loop {
        let from = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        groups.push(Group { start: from, end: at });
        let divider = divider(&bytes[at..], at - from);
        if divider == 0 || !bytes.get(at + divider).is_some_and(u8::is_ascii_digit) {
            return (groups, at);
        }
        at += divider;
    }
}

/// Length in bytes of the divider after a group of that many digits, if people write cards with it.
fn divider(rest: &[u8], digits: usize) -> usize {
    match rest {
        [b' ' | b'-', ..] => 1,
        // Decimal numbers and addresses have groups of other lengths.
        [b'.', ..] if matches!(digits, 4 | 6) => 1,
        // A no-break space.
        [0xc2, 0xa0, ..] => 2,
        // Thin, narrow and figure spaces; the non-breaking hyphen, the dash.
        [0xe2, 0x80, 0x87 | 0x89 | 0xaf | 0x91 | 0x93, ..] => 3,
        _ => 0,
    }
}

fn windows(bytes: &[u8], groups: &[Group], secrets: &mut Vec<FoundSecret>) {
    let mut first = 0;
    while first < groups.len() {
        let mut digits: Vec<u8> = Vec::new();
        let mut next = first + 1;
        for (last, group) in groups.iter().enumerate().skip(first) {
            if digits.len() + (group.end - group.start) > 19 {
                break;
            }
            digits.extend(bytes[group.start..group.end].iter().map(|digit| digit - b'0'));
            if is_card(&digits) {
                secrets.push(FoundSecret {
                    range: groups[first].start..group.end,
                    kind: "card",
                });
                next = last + 1;
                break;
            }
        }
        first = next;
    }
}

fn is_card(digits: &[u8]) -> bool {
    let two = |digits: &[u8]| digits[0] * 10 + digits[1];
    let begins = match digits.len() {
        14 => matches!(two(digits), 30 | 36 | 38),
        15 => matches!(two(digits), 34 | 37),
        16 => matches!(two(digits), 22..=27 | 35 | 40..=49 | 51..=55 | 60 | 62 | 64 | 65),
        19 => matches!(two(digits), 40..=49 | 60 | 62),
        _ => false,
    };
    begins && luhn(digits)
}

fn luhn(digits: &[u8]) -> bool {
    let weigh = |(place, digit): (usize, &u8)| match (place % 2, digit * 2) {
        (0, _) => u32::from(*digit),
        (_, twice) if twice > 9 => u32::from(twice - 9),
        (_, twice) => u32::from(twice),
    };
    digits.iter().rev().enumerate().map(weigh).sum::<u32>() % 10 == 0
}
