//! The sentences of people and of their assistant, put together from small tables.
//!
//! Owns: the tables. Never: the speaker or the day of a sentence.

use crate::dice::Dice;

pub(super) const CITIES: [&str; 14] = [
    "Lisbon", "Ghent", "Turin", "Malmö", "Bergen", "Krakow", "Porto", "Graz", "Lyon", "Leeds", "Split",
    "Tartu", "Cork", "Bilbao",
];
pub(super) const COMPANIES: [&str; 8] = [
    "Northwind",
    "Bluefin Labs",
    "the city library",
    "Harbour Foods",
    "Castle Press",
    "Meadow Clinic",
    "Orbit Rail",
    "Sundial Games",
];
const NAMES: [&str; 20] = [
    "Anna", "Bruno", "Clara", "David", "Elif", "Felix", "Greta", "Hugo", "Ines", "Jonas", "Karla", "Leon",
    "Maya", "Nils", "Olga", "Paul", "Rosa", "Stefan", "Tomas", "Vera",
];
const RELATIONS: [&str; 8] = [
    "sister", "brother", "cousin", "neighbour", "colleague", "aunt", "flatmate", "old teacher",
];
const THINGS: [&str; 24] = [
    "lamp",
    "tent",
    "ladder",
    "suitcase",
    "drill",
    "printer",
    "kettle",
    "bicycle pump",
    "box",
    "guitar",
    "umbrella",
    "camera",
    "sewing machine",
    "telescope",
    "rug",
    "toolbox",
    "clock",
    "sleeping bag",
    "heater",
    "chess set",
    "radio",
    "blanket",
    "vase",
    "projector",
];
const COLOURS: [&str; 8] = [
    "red", "blue", "green", "grey", "yellow", "brown", "white", "black",
];
const SPOTS: [&str; 12] = [
    "under the stairs",
    "in the cellar",
    "on the balcony",
    "behind the sofa",
    "in the attic",
    "next to the washing machine",
    "in the hall",
    "on the top shelf",
    "in the car",
    "under the bed",
    "in the shed",
    "by the window",
];
const TIMES: [&str; 14] = [
    "on Friday",
    "next week",
    "tomorrow",
    "yesterday",
    "last weekend",
    "on Monday morning",
    "in the evening",
    "two days ago",
    "next month",
    "on the 14th",
    "after lunch",
    "this afternoon",
    "last spring",
    "on Sunday",
];
const FOODS: [&str; 16] = [
    "lentil soup",
    "rye bread",
    "mushroom risotto",
    "plum cake",
    "fried rice",
    "goat cheese",
    "pumpkin curry",
    "potato salad",
    "pickled beets",
    "fish pie",
    "apple pancakes",
    "bean stew",
    "walnuts",
    "olives",
    "noodles",
    "figs",
];
const HOBBIES: [&str; 14] = [
    "to play the cello",
    "to bake sourdough",
    "to swim crawl",
    "Portuguese",
    "to repair watches",
    "to draw birds",
    "to prune roses",
    "bookbinding",
    "to sail",
    "chess openings",
    "to knit socks",
    "to ride a unicycle",
    "Japanese",
    "to throw pots",
];
const OPENINGS: [&str; 6] = ["", "By the way, ", "You know, ", "Well, ", "So ", "Also, "];
const BEGINS: [&str; 10] = [
    "Vor", "Zel", "Bex", "Gwy", "Jat", "Kri", "Lud", "Nyx", "Rhu", "Skel",
];
const MIDDLES: [&str; 10] = [
    "zam", "tiv", "kor", "dul", "wem", "pax", "gor", "fis", "hur", "jol",
];
const ENDS: [&str; 10] = [
    "ska", "berti", "ingo", "aldu", "ewitz", "orim", "unfeld", "okka", "asto", "ylva",
];

/// An element of a table.
pub(super) fn one(dice: &Dice, table: &[&'static str]) -> &'static str {
    dice.pick(table).unwrap_or_default()
}

/// A statement of a person.
pub(super) fn statement(dice: &Dice) -> String {
    let of = |table: &[&'static str]| one(dice, table);
    match dice.below(14) {
        0 => format!("I put the {} {} {}.", of(&COLOURS), of(&THINGS), of(&SPOTS)),
        1 => format!("{} is coming to {} {}.", of(&NAMES), of(&CITIES), of(&TIMES)),
        2 => format!("{} and I had {} {}.", of(&NAMES), of(&FOODS), of(&TIMES)),
        3 => format!("My {} {} works in {}.", of(&RELATIONS), of(&NAMES), of(&CITIES)),
        4 => format!("I am learning {} with {}.", of(&HOBBIES), of(&NAMES)),
        5 => format!(
            "The {} {} from {} broke {}.",
            of(&COLOURS),
            of(&THINGS),
            of(&CITIES),
            of(&TIMES)
        ),
        6 => format!("I have an appointment with {} {}.", of(&NAMES), of(&TIMES)),
        7 => format!("I don't like {}, but {} does.", of(&FOODS), of(&NAMES)),
        8 => format!("I prefer {} to {}.", of(&FOODS), of(&FOODS)),
        9 => format!(
            "My {} {} gave me a {} {}.",
            of(&RELATIONS),
            of(&NAMES),
            of(&COLOURS),
            of(&THINGS)
        ),
        10 => format!("I lent the {} to {} {}.", of(&THINGS), of(&NAMES), of(&TIMES)),
        11 => format!(
            "I am flying to {} with {} {}.",
            of(&CITIES),
            of(&NAMES),
            of(&TIMES)
        ),
        12 => format!(
            "{} the meeting with {} went badly.",
            capital(of(&TIMES)),
            of(&NAMES)
        ),
        _ => format!("I love {} from the market in {}.", of(&FOODS), of(&CITIES)),
    }
}

/// A question of a person, which states nothing.
pub(super) fn question(dice: &Dice) -> String {
    let of = |table: &[&'static str]| one(dice, table);
    match dice.below(5) {
        0 => format!("Where can I have a {} repaired in {}?", of(&THINGS), of(&CITIES)),
        1 => format!("What goes well with {}?", of(&FOODS)),
        2 => format!("How long does it take {}?", of(&HOBBIES)),
        3 => format!("Which train goes from {} to {}?", of(&CITIES), of(&CITIES)),
        _ => format!("Can you explain {} in plain words?", of(&HOBBIES)),
    }
}

/// Words in front of a statement, sometimes none.
pub(super) fn opened(dice: &Dice, statement: &str) -> String {
    let opening = one(dice, &OPENINGS);
    let begins_with_article = statement.starts_with("The ") || statement.starts_with("My ");
    if opening.is_empty() || !begins_with_article {
        return statement.to_owned();
    }
    let mut letters = statement.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string());
    format!("{opening}{}{}", first.unwrap_or_default(), letters.as_str())
}

/// The assistant's answer.
pub(super) fn reply(dice: &Dice) -> String {
    let of = |table: &[&'static str]| one(dice, table);
    match dice.below(5) {
        0 => format!(
            "Good to know. Shall I look for a {} in {}?",
            of(&THINGS),
            of(&CITIES)
        ),
        1 => format!("People in {} often do that {}.", of(&CITIES), of(&TIMES)),
        2 => format!(
            "That reminds me of a recipe for {} with {}.",
            of(&FOODS),
            of(&FOODS)
        ),
        3 => format!("A {} {} would help with that.", of(&COLOURS), of(&THINGS)),
        _ => "All right.".to_owned(),
    }
}

/// Sentences with an unusual name.
pub(super) fn about(dice: &Dice, name: &str) -> Vec<String> {
    let of = |table: &[&'static str]| one(dice, table);
    let first = match dice.below(4) {
        0 => format!("My doctor is called {name}."),
        1 => format!("I met {name} in {} {}.", of(&CITIES), of(&TIMES)),
        2 => format!("{name} owes me {} euros.", 10 + dice.below(900)),
        _ => format!("I am having dinner with {name} {}.", of(&TIMES)),
    };
    let second = format!("{name} likes {}.", of(&FOODS));
    if dice.percent(50) {
        vec![first, second]
    } else {
        vec![first]
    }
}

/// A line that a person writes in a file.
pub(super) fn line(dice: &Dice, number: usize) -> String {
    let of = |table: &[&'static str]| one(dice, table);
    format!(
        "My note {number}: the {} {} is for {}.",
        of(&COLOURS),
        of(&THINGS),
        of(&NAMES)
    )
}

/// The unusual name of a number; no two of a thousand are equal.
pub(super) fn unusual_name(number: usize) -> String {
    format!(
        "{}{}{}",
        BEGINS[number % 10],
        MIDDLES[number / 10 % 10],
        ENDS[(number + number / 100) % 10]
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn statements_are_varied() {
        let dice = Dice::new(1);
        let all: BTreeSet<String> = (0..6_000).map(|_| statement(&dice)).collect();
        assert!(all.len() > 3_500, "{}", all.len());
    }

    #[test]
    fn no_two_unusual_names_are_equal() {
        let all: BTreeSet<String> = (0..1_000).map(unusual_name).collect();
        assert_eq!(all.len(), 1_000);
    }
}
