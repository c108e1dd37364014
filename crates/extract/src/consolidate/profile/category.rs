//! Headings of a profile's statements.
//!
//! Owns: the headings, and their worth. Never: whether a statement is true, or a guess from one of
//! its words.

model::worded! {
    /// A heading of a profile.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ProfileCategory {
        Name = "Name",
        /// Wishes for answers.
        Wishes = "How to answer",
        Home = "Home",
        Work = "Work",
        Family = "Family and pets",
        Health = "Diet and health",
        Languages = "Languages",
        Education = "Education",
        Tastes = "Likes and dislikes",
        Interests = "Interests",
        Possessions = "Possessions",
        Plans = "Plans",
        Life = "Life",
        /// Subjects of episodes; only earlier versions wrote them.
        Talk = "Talked about",
    }
}

use ProfileCategory::{
    Education, Family, Health, Home, Interests, Languages, Life, Name, Plans, Possessions, Talk, Tastes,
    Wishes, Work,
};

impl ProfileCategory {
    /// The heading with this title.
    pub fn of_title(title: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|category| category.as_str().eq_ignore_ascii_case(title.trim()))
    }

    /// A description of its statements, for a comparison by meaning; none for wishes and subjects
    /// of talks.
    fn about(self) -> Option<&'static str> {
        Some(match self {
            Name => "name, surname, nickname",
            Home => "home, house, flat, address, town, country where I live",
            Work => "job, work, profession, company, boss, colleagues",
            Family => "family, husband, wife, partner, children, parents, sister, brother, dog, cat",
            Health => "health, illness, medicine, allergy, diet, food that I do not eat",
            Languages => "languages that I speak",
            Education => "school, university, studies, exam",
            Tastes => "what I like and dislike",
            Interests => "hobbies, sport, music, games, reading",
            Possessions => "things that I own, car, phone, clothes",
            Plans => "plan, trip, ticket, appointment, what I bought",
            Life => "today, yesterday, tired, busy, sorry, yes",
            Wishes | Talk => return None,
        })
    }

    /// The headings that have a description, with it. Similarity to a description sorts statements,
    /// and never creates one.
    pub fn described() -> impl Iterator<Item = (Self, &'static str)> {
        Self::ALL.into_iter().filter_map(|one| Some((one, one.about()?)))
    }

    /// Worth of a statement under it relative to others, 0 to 100.
    pub fn worth(self) -> u32 {
        match self {
            Name => 100,
            Wishes => 95,
            Home => 90,
            Work => 85,
            Family | Health => 80,
            Languages => 60,
            Education => 50,
            Tastes | Interests => 45,
            Possessions | Plans => 40,
            Life => 20,
            Talk => 5,
        }
    }
}

/// The heading of a statement about a person; none if it is not lasting. Rules do not guess the
/// subject of a statement about somebody's life.
pub(super) fn category(text: &str) -> Option<ProfileCategory> {
    let lower = text.to_lowercase();
    if lower
        .split_once(": \"")
        .is_some_and(|(who, _)| who == "i ask" || who.ends_with(" asks"))
    {
        return Some(Wishes);
    }
    let of_a_day = ["yesterday", "today", "tomorrow", "ago", "weekend", "week"];
    let is_of_a_day = lower
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| of_a_day.contains(&word));
    (!is_of_a_day || lower.contains(" every ")).then_some(Life)
}
