//! One person of the year: their habits, and the record of their words.
//!
//! Owns: the record. Never: a call to Quipu.

use model::{Owner, SessionKey};
use ports::VaultPath;

use super::sentences::{self, CITIES, COMPANIES};
use crate::book::name;
use crate::dice::Dice;

/// A person chats on this many of a hundred days, outside of quiet weeks.
const CHATS_PERCENT: u64 = 80;
/// A person has no chat in this many of a hundred weeks of their own.
const QUIET_PERCENT: u64 = 8;
/// The day on which each person says a sentence that the last day asks for.
const KEPT_DAY: u32 = 75;
/// Days between two moves of a person, and the day of the first move of the first person.
const MOVE_DAYS: u32 = 97;
const MOVE_FIRST: u32 = 60;
/// Days between two changes of a person's company.
const COMPANY_DAYS: u32 = 141;

/// A sentence that is said once, the question for it, and the words that an answer must have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    pub(super) text: &'static str,
    pub(super) question: &'static str,
    pub(super) answer: &'static str,
}

/// By person.
const PEOPLE: [(&str, Kept); 3] = [
    (
        "ada",
        Kept {
            text: "I keep my passport in the blue box under the stairs.",
            question: "Where is my passport?",
            answer: "blue box under the stairs",
        },
    ),
    (
        "ben",
        Kept {
            text: "The spare key of the garage hangs behind the mirror in the hall.",
            question: "Where does the spare key of the garage hang?",
            answer: "behind the mirror in the hall",
        },
    ),
    (
        "cleo",
        Kept {
            text: "My grandmother's ring is in the drawer of the old piano.",
            question: "Where is my grandmother's ring?",
            answer: "drawer of the old piano",
        },
    ),
];

/// The fate of an unusual name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It stays.
    Stays,
    /// It is forgotten on this day, by its words or with its session.
    Words(u32),
    Session(u32),
    Gone,
}

/// A name that occurs in one session of one person alone.
#[derive(Debug, Clone)]
pub(super) struct Unusual {
    pub(super) name: String,
    pub(super) session: SessionKey,
    pub(super) fate: Fate,
}

/// A text that a person wrote in a file.
#[derive(Debug, Clone)]
pub(super) struct Handwriting {
    pub(super) path: VaultPath,
    pub(super) text: String,
    /// The text is the whole file.
    pub(super) is_file: bool,
}

/// A person.
#[derive(Debug)]
pub(super) struct Person {
    pub(super) owner: Owner,
    pub(super) kept: Kept,
    /// The day of the kept sentence.
    pub(super) kept_day: u32,
    /// The cities of the person, the present one last.
    pub(super) cities: Vec<&'static str>,
    pub(super) company: &'static str,
    /// Statements without an unusual name, with their day.
    pub(super) said: Vec<(u32, String)>,
    /// Statements that were said a second time.
    pub(super) repeated: Vec<String>,
    pub(super) unusual: Vec<Unusual>,
    pub(super) written: Vec<Handwriting>,
    /// The newest session, which a chat of the next day may continue.
    pub(super) session: Option<SessionKey>,
    quiet_week: Option<u32>,
    /// The week for which the habit was decided.
    week: Option<u32>,
    number: u32,
}

impl Person {
    /// The three people of a year with this many days.
    pub(super) fn all(dice: &Dice, days: u32) -> Vec<Self> {
        let people = (0..).zip(PEOPLE);
        people
            .map(|(number, (id, kept))| Self {
                owner: Owner::user(name(id)),
                kept,
                kept_day: KEPT_DAY.min(days / 4) + number,
                cities: vec![sentences::one(dice, &CITIES)],
                company: sentences::one(dice, &COMPANIES),
                said: Vec::new(),
                repeated: Vec::new(),
                unusual: Vec::new(),
                written: Vec::new(),
                session: None,
                quiet_week: None,
                week: None,
                number,
            })
            .collect()
    }

    /// Whether the person chats on a day.
    pub(super) fn chats(&mut self, dice: &Dice, day: u32) -> bool {
        let week = day / 7;
        if self.week != Some(week) {
            self.week = Some(week);
            self.quiet_week = dice.percent(QUIET_PERCENT).then_some(week);
        }
        self.quiet_week != Some(week) && dice.percent(CHATS_PERCENT)
    }

    /// The present city.
    pub(super) fn city(&self) -> &'static str {
        self.cities.last().copied().unwrap_or_default()
    }

    /// Sentences about a change on this day. The first day introduces the person.
    pub(super) fn news(&mut self, dice: &Dice, day: u32) -> Vec<String> {
        let mut news = Vec::new();
        if day == 1 {
            news.push(format!("I live in {}.", self.city()));
            news.push(format!("I work at {}.", self.company));
        }
        if self.moves(day) {
            let (from, to) = (self.city(), other(dice, &CITIES, &self.cities));
            self.cities.push(to);
            news.push(format!("I moved from {from} to {to}."));
        }
        if self.changes_company(day) {
            let from = self.company;
            self.company = other(dice, &COMPANIES, &[from]);
            news.push(format!("I left {from}, and I work at {} now.", self.company));
        }
        news
    }

    fn moves(&self, day: u32) -> bool {
        let first = MOVE_FIRST + 5 * self.number;
        day >= first && (day - first).is_multiple_of(MOVE_DAYS)
    }

    fn changes_company(&self, day: u32) -> bool {
        (day + 9 * self.number).is_multiple_of(COMPANY_DAYS)
    }

    /// Whether the person has something to say on this day that cannot wait for a chat.
    pub(super) fn has_to_say(&self, day: u32) -> bool {
        day == 1 || day == self.kept_day || self.moves(day) || self.changes_company(day)
    }

    /// Whether a text has an unusual name.
    pub(super) fn is_unusual(&self, text: &str) -> bool {
        self.unusual.iter().any(|one| text.contains(&one.name))
    }
}

/// An element that is not among some others.
fn other(dice: &Dice, from: &[&'static str], than: &[&'static str]) -> &'static str {
    let left: Vec<&'static str> = from.iter().filter(|one| !than.contains(one)).copied().collect();
    sentences::one(dice, &left)
}
