//! Headings of a profile's statements.
//!
//! Owns: the headings, their worth, and the words that lead to them. Never: whether a statement is true.

use std::collections::BTreeSet;

text::worded! {
    /// A heading of a profile.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ProfileCategory {
        Name = "Name",
        /// How the person wants to be answered.
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
        /// Subjects of episodes, as earlier versions wrote them.
        Talk = "Talked about",
    }
}

use ProfileCategory::{
    Education, Family, Health, Home, Interests, Languages, Life, Name, Plans, Possessions, Talk, Tastes,
    Wishes, Work,
};

impl ProfileCategory {
    /// The heading of that title.
    pub fn of_title(title: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|category| category.as_str().eq_ignore_ascii_case(title.trim()))
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

/// The heading of an attribute that has one current value.
fn of_attribute(attribute: &str) -> Option<ProfileCategory> {
    Some(match attribute {
        "residence" | "landlord" | "time zone" => Home,
        "employer" | "employment" | "job title" | "work place" | "manager" | "transport to work" => Work,
        "school" | "major" => Education,
        "relationship" => Family,
        "diet" | "smoking" | "weight" | "bedtime" | "wake-up time" | "age" => Health,
        "currently reading" | "currently watching" => Interests,
        "car" | "bank" => Possessions,
        other if other.starts_with("favourite") => Tastes,
        other if other.starts_with("date of") || other.starts_with("time of") => Plans,
        _ => return None,
    })
}

/// Words that lead to a heading; the first heading of which a word is there.
const WORDS: [(ProfileCategory, &str); 11] = [
    (Wishes, "answers reply replies respond addressed"),
    (
        Family,
        "wife husband spouse fiancé fiancée fiance fiancee partner girlfriend boyfriend son sons daughter daughters \
         sister sisters brother brothers mother father mum mom dad parents child children kid kids baby twins cousin \
         aunt uncle niece nephew grandmother grandfather grandma grandpa grandchildren married engaged divorced dog \
         dogs cat cats puppy kitten pet pets rabbit parrot horse",
    ),
    (
        Health,
        "allergic allergy allergies vegan vegetarian gluten lactose diabetes diabetic asthma migraine migraines diet \
         medication insulin therapy pregnant anxiety depression arthritis celiac coeliac eat eats meat sober",
    ),
    (
        Languages,
        "language languages fluent bilingual speaks english french german spanish italian portuguese dutch japanese \
         korean mandarin chinese arabic russian polish turkish hindi swedish",
    ),
    (
        Education,
        "studies studying university college degree phd thesis master's bachelor's school student graduated",
    ),
    (
        Work,
        "works working job company startup office employer colleague colleagues boss promoted career freelances \
         freelancer nurse engineer developer teacher doctor lawyer baker designer manager accountant retired profession",
    ),
    (
        Home,
        "lives living moved home flat house apartment neighbourhood born hometown grew",
    ),
    (
        Tastes,
        "likes loves enjoys hates dislikes prefers adores favourite favorite fan stand",
    ),
    (
        Interests,
        "plays runs paints hikes climbs cooks bakes knits gardens collects practises practices hobby hobbies swims \
         cycles sings dances writes reads photographs volunteers",
    ),
    (
        Possessions,
        "owns bought car bike bicycle motorbike scooter moped guitar piano violin cello laptop computer tablet phone camera \
         boat yacht ship sailboat dinghy canoe kayak van caravan camper truck tractor robot",
    ),
    (
        Plans,
        "plans planning will wants hopes going saving intends aims starts next",
    ),
];

/// Others who have names. Where no name is told, such a word can be food, a device or a stranger.
const NAMED: &str = "friend neighbour neighbor godson goddaughter stepson stepdaughter budgie bunny canary chicken cow \
                     donkey ferret fish gecko goat goldfish guinea hamster hen lizard mouse pig pony rat sheep snake \
                     tortoise turtle";

/// The heading of what a person calls by a name, in lower case.
fn of_named(whose: &str) -> ProfileCategory {
    let words = words(whose);
    if leads(NAMED, &words) {
        return Family;
    }
    by_words(&words).unwrap_or(Life)
}

fn words(lower: &str) -> BTreeSet<&str> {
    lower
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .collect()
}

fn leads(list: &str, words: &BTreeSet<&str>) -> bool {
    list.split_whitespace().any(|word| words.contains(word))
}

fn by_words(words: &BTreeSet<&str>) -> Option<ProfileCategory> {
    let mut headings = WORDS.iter().filter(|(_, list)| leads(list, words));
    headings.next().map(|(category, _)| *category)
}

/// The heading of a statement about a person; none if it is not lasting.
pub(super) fn category(text: &str) -> Option<ProfileCategory> {
    let lower = text.to_lowercase();
    let words = words(&lower);
    if lower.contains("name is") || lower.contains("goes by") || lower.contains("is called") {
        let named = crate::slot(text).filter(|slot| slot.subject.contains("'s"));
        return Some(named.map_or(Name, |slot| of_named(&slot.subject.to_lowercase())));
    }
    let by_slot = crate::slot(text).and_then(|slot| match of_attribute(&slot.attribute) {
        Some(category) if !slot.subject.contains("'s") => Some(category),
        _ => None,
    });
    let of_a_day = ["yesterday", "today", "tomorrow", "ago", "weekend", "week"];
    by_slot.or_else(|| {
        if of_a_day.iter().any(|day| words.contains(day)) && !lower.contains(" every ") {
            return None;
        }
        by_words(&words)
    })
}
