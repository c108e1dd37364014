//! Headings of a profile's statements.
//!
//! Owns: the headings, their worth, and the words that lead to them. Never: whether a statement is true.

use std::collections::HashMap;
use std::sync::LazyLock;

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

/// Words that lead to a heading; the first heading of which a word is there.
const WORDS: [(ProfileCategory, &str); 5] = [
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
        Work,
        "works working job company startup office employer colleague colleagues boss promoted career freelances \
         freelancer nurse engineer developer teacher doctor lawyer baker designer manager accountant retired profession",
    ),
    (
        Home,
        "lives living moved home flat house apartment neighbourhood born hometown grew",
    ),
];

/// By stem, the first heading that a word leads to.
static HEADINGS: LazyLock<HashMap<String, usize>> = LazyLock::new(|| {
    let mut headings = HashMap::new();
    for (at, (_, list)) in WORDS.iter().enumerate() {
        for stem in stems(list) {
            headings.entry(stem).or_insert(at);
        }
    }
    headings
});

fn stems(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '\''));
    words
        .filter(|word| !word.is_empty())
        .map(|word| text::stem(word).into_owned())
}

fn by_words(text: &str) -> Option<ProfileCategory> {
    let first = stems(text).filter_map(|stem| HEADINGS.get(&stem)).min();
    first.map(|at| WORDS[*at].0)
}

/// The heading of a statement about a person; none if it is not lasting.
pub(super) fn category(text: &str) -> Option<ProfileCategory> {
    let lower = text.to_lowercase();
    if let Some((whose, _)) = lower.split_once(" name is") {
        return by_words(whose).or(Some(Name));
    }
    let of_a_day = ["yesterday", "today", "tomorrow", "ago", "weekend", "week"];
    let is_of_a_day = lower
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| of_a_day.contains(&word));
    if is_of_a_day && !lower.contains(" every ") {
        return None;
    }
    by_words(&lower).or(Some(Life))
}
