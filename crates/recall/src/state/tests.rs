//! Questions about a present state of the asker's things.

use model::Timestamp;

use super::super::tests::{Ask, ask, corpus, day, episode, ids, row, turn};
use crate::{Corpus, statement};

/// A question, an earlier statement and a later one, in everyday wordings that the rules were not
/// made from.
const CHANGED: [(&str, &str, &str); 16] = [
    (
        "Who's my manager?",
        "My manager Harriet wants a status report every Friday. Can you give me a template?",
        "I report to Ollie since the reorg and he hates long mails. Shorten this please.",
    ),
    (
        "Which database are we using?",
        "We're using MySQL 5.7 for the shop. How do I add an index without locking?",
        "Our migration to Postgres is done, the shop has been on it for two weeks. How do I find slow queries?",
    ),
    (
        "Which school does my daughter go to?",
        "My daughter is at St Anne's and gets too much homework, how do I raise that politely?",
        "Write a thank you card for the teacher at Riverside, my daughter has been so happy there since she changed schools.",
    ),
    (
        "How much do I weigh at the moment?",
        "I weigh 92 kg and want to lose ten, is 1800 calories okay?",
        "Down to 84 kg this morning!! Should I eat more now?",
    ),
    (
        "How much rent do we pay?",
        "Our rent is 950 a month, is that normal for two rooms?",
        "Got the letter, the rent goes up to 1,080 from next month. Can he just do that?",
    ),
    (
        "When do we have our standup?",
        "Our standup is at 9:30. Can you make a short agenda?",
        "Since half the team is in Lisbon now, standup is at 10:15. Please update the agenda header.",
    ),
    (
        "When is my thesis due?",
        "My thesis is due on 30 April, help me plan backwards.",
        "They gave me an extension! 15 June. Redo the plan please.",
    ),
    (
        "Which team do I work in?",
        "I'm in the payments team and on call this week, any tips?",
        "I transferred to the search team in January. What should I read about ranking?",
    ),
    (
        "When do we fly?",
        "We fly on 3 May, what should I do the week before?",
        "Airline cancelled on us and rebooked everyone for 10 May. Write to the cat sitter.",
    ),
    (
        "Who's our vet?",
        "Our vet is Dr Okafor, write her a thank you note for saving Pip",
        "Dr Lund has taken over the practice from our old vet. How do I ask her for Pip's file?",
    ),
    (
        "How old is my daughter?",
        "My daughter is four and refuses to sleep. Tips?",
        "Party games for a princess party? My daughter turned five on Sunday.",
    ),
    (
        "What do I do in my free time?",
        "I do pottery in my free time, how do I stop my mugs cracking?",
        "Pottery's on hold, I'm bouldering three times a week and my fingers hurt.",
    ),
    (
        "Which degree am I doing?",
        "I'm doing economics, second year. What's a good internship?",
        "I changed my degree to computer science. Which maths do I need to catch up on?",
    ),
    (
        "What do I drink in the morning?",
        "I always have black tea in the morning. Does it stop iron absorption?",
        "Mornings start with yerba mate for me now. How hot should the water be?",
    ),
    (
        "What's my dog called?",
        "My dog Bella ate chocolate, what do I do?",
        "My dog's called Monty and he pulls on the lead. Any training tips?",
    ),
    (
        "What number can people reach me on?",
        "Put my number on the poster: 0151 555 010",
        "The number on the poster is wrong, you can reach me on 0161 555 020",
    ),
];

/// Every pair's statements in one corpus, each in a sitting of its own.
fn changes_corpus() -> Corpus {
    let rows = (0..).zip(CHANGED).flat_map(|(at, (_, old, new))| {
        let row = |age: &str, time: Timestamp, text: &str| {
            let id = format!("{age}{at}");
            turn(&id, &id, time, "Ann", text)
        };
        [row("old", day(at), old), row("new", day(120 + at), new)]
    });
    corpus(rows)
}

#[test]
fn the_later_statement_of_a_change_comes_first() {
    let told = changes_corpus();
    let place = |question: &str, id: &str| {
        let found = ask(question).of(&told).messages;
        found.iter().position(|hit| *hit.doc.key.id == *id)
    };
    let wrong = (0..).zip(CHANGED).filter(|(at, (question, ..))| {
        let (old, new) = (format!("old{at}"), format!("new{at}"));
        place(question, &new) > place(question, &old) || place(question, &new).is_none()
    });
    let wrong: Vec<&str> = wrong.map(|(_, (question, ..))| question).collect();
    // The later statements of these share no or too few words with the question: only their meaning
    // could find them.
    let unshared = [
        "Who's my manager?",
        "Which database are we using?",
        "How much do I weigh at the moment?",
        "When is my thesis due?",
        "When do we fly?",
        "What do I do in my free time?",
        "What do I drink in the morning?",
    ];
    assert_eq!(wrong, unshared);
}

/// A question and its answer. The same person's later messages share words with both, mention
/// changes and things of the asked kind, and have another subject.
const UNCHANGED: [(&str, &str, [&str; 10]); 2] = [
    (
        "Who's our dentist?",
        "Our dentist is Dr Halloran, she says my daughter needs a brace. Is nine too young?",
        [
            "Already nine, and my daughter still needs a light. The practice with the drums is over, so what can she do instead?",
            "My daughter says her class got nine new fish since the summer. Is the tank too small now?",
            "We moved our piano practice to nine, since the young ones are too loud. Who plays before school?",
            "A young fox needs our bins again, nine nights now. Who do I call?",
            "The doctor on the series died, my daughter says she has stopped watching. Is there a new one?",
            "Our young cat has been to the vet nine times now. Is she just lazy?",
            "Our choir dropped the hymn since nine of us left. Who writes short ones?",
            "The brace of the gate is gone and now it needs a post. Is oak too soft?",
            "My young neighbour got a surgery simulator for the holidays. Is it any good now?",
            "I quit sugar in January, nine weeks now. Who says it gets easier?",
        ],
    ),
    (
        "What race am I training for?",
        "I'm training for a race in Bristol, I never ran more than three miles before. Eight week plan?",
        [
            "I never sat still for more than three hours before, and now I need a plan for the cinema. What is short?",
            "We're opening at eight now, more than three of us never ran a shop before. What rota do you plan for a week?",
            "The match plan changed, three of eight never came. What now?",
            "I started baking before work this week and never ran out of flour. More ideas?",
            "Our train to Bristol got cancelled, three hours more. What do I read?",
            "Bristol again this week, eight miles of jam. What radio show do you like more?",
            "My sister sold eight quilts in a week, more than ever before. What next?",
            "I moved the three chairs, now the hall has room for more. What colour?",
            "The dog finally walks at heel, eight weeks in. What treats do you like?",
            "I cut the hedge before the storm, three bags more than planned. What burns well?",
        ],
    ),
];

#[test]
fn unrelated_later_messages_take_no_score() {
    for (question, old, later) in UNCHANGED {
        let rows = (0..).zip(later).map(|(at, text)| {
            let id = format!("later{at}");
            turn(&id, &id, day(100 + 2 * at), "Ann", text)
        });
        let told = corpus(rows.chain([turn("old", "old", day(1), "Ann", old)]));
        let found = ask(question).of(&told).messages;
        assert_eq!(&*found[0].doc.key.id, "old", "{question}");
        assert!(
            found[1].score < found[0].score && found[0].later.is_none(),
            "{question}"
        );
    }
}

const OLD: &str = "I have a ThinkPad laptop from work and its fan is loud.";
const NEW: &str = "My laptop is a MacBook now, I switched.";

fn found(question: &str, as_of: Option<Timestamp>, rows: [(&str, i64, &str); 2]) -> String {
    let rows = rows.map(|(id, at, text)| turn(id, id, day(at), "Ann", text));
    let found = Ask {
        as_of,
        ..ask(question)
    }
    .of(&corpus(rows));
    ids(&found.messages).join(" ")
}

#[test]
fn the_name_of_a_removed_speaker_is_forgotten() {
    let said = [
        turn(
            "old",
            "old",
            day(1),
            "Ann",
            "My laptop is a ThinkPad, and its fan is loud.",
        ),
        turn(
            "new",
            "new",
            day(150),
            "Ann",
            "I traded in my laptop and switched to a new laptop this morning, a MacBook.",
        ),
    ];
    let question = ask("What laptop is it that Lou uses?");
    let fresh = corpus(said.clone());
    let mut lived = corpus(
        said.into_iter()
            .chain([turn("lou", "lou", day(2), "Lou", "Hello.")]),
    );
    assert_ne!(question.of(&lived).messages, question.of(&fresh).messages);
    lived.remove("lou");
    assert_eq!(question.of(&lived), question.of(&fresh));
}

#[test]
fn a_statement_about_another_person_or_of_the_same_day_supersedes_nothing() {
    let old = ("old", 1, "My laptop is a ThinkPad, and its fan is loud.");
    let others = "My sister bought a new laptop, a MacBook, and now she cannot find the ThinkPad.";
    assert_eq!(
        found("Which laptop do I use?", None, [old, ("new", 150, others)]),
        "old new"
    );
    let old = ("old", 1, "My laptop is a ThinkPad, and its fan is loud.");
    let new =
        "I traded in that laptop, the loud ThinkPad with its fan, and switched to a MacBook this morning.";
    assert_eq!(
        found("Which laptop do I use?", None, [old, ("new", 1, new)]),
        "old new"
    );
}

#[test]
fn an_episode_comes_after_the_one_with_the_present_state() {
    let of = |id: &str, at: i64, text: &str| {
        let parent = format!("e-{id}");
        let entry = model::DocKind::Entry(model::EntryKind::Episode);
        let said = model::Doc {
            parent: Some(episode(&parent)),
            ..turn(id, id, day(at), "Ann", text)
        };
        [said, row(&parent, entry, day(at), text)]
    };
    let rows = [of("old", 1, OLD), of("new", 150, NEW)];
    let found = ask("Which laptop do I use?").of(&corpus(rows.into_iter().flatten()));
    assert_eq!(ids(&found.memories), ["e-new", "e-old"]);
}

#[test]
fn word_lists_are_sorted() {
    for list in statement::LISTS {
        assert!(list.is_sorted(), "{list:?}");
    }
}

#[test]
fn a_weak_answer_is_not_marked_as_earlier() {
    let rows = [
        turn(
            "1",
            "a",
            day(1),
            "Ann",
            "My landlord is Mr Adeyemi and the landlord answers at once.",
        ),
        turn(
            "2",
            "b",
            day(3),
            "Ann",
            "The stairs got new paint from somebody again.",
        ),
        turn(
            "3",
            "c",
            day(90),
            "Ann",
            "The stairs got new paint from somebody, again.",
        ),
    ];
    let found = ask("Who is my landlord?").of(&corpus(rows)).messages;
    let earlier: Vec<&str> = found
        .iter()
        .filter(|hit| hit.later.is_some())
        .map(|hit| &*hit.doc.key.id)
        .collect();
    assert_eq!(earlier, [""; 0]);
}

#[test]
fn no_answer_is_superseded_in_a_language_without_change_words() {
    let rows = [
        turn(
            "1",
            "a",
            day(1),
            "Ann",
            "我是地铁司机，经常上夜班，晚饭都是凌晨吃。",
        ),
        turn(
            "2",
            "b",
            day(20),
            "Ann",
            "最近查出来血压高，医生让我每天早上吃药。",
        ),
    ];
    let found = ask("我的职业是什么？").of(&corpus(rows)).messages;
    let earlier = found.iter().filter(|hit| hit.later.is_some());
    assert_eq!(earlier.count(), 0);
}

/// The mark that its person withdrew a fact of a session.
fn taken_back(session: &str, label: &str, source: Option<&str>) -> model::Doc {
    model::Doc {
        session: Some(model::SessionId::new(session)),
        labels: vec![label.to_owned()],
        sources: source.map(model::MessageId::new).into_iter().collect(),
        ..super::super::tests::fact(&format!("mark-{session}"), day(1), "You said so.")
    }
}

#[test]
fn a_withdrawn_message_comes_last_and_is_marked() {
    let rows = |mark: Option<model::Doc>| {
        let said = |id: &str, at: i64, text: &str| turn(id, id, day(at), "ann", text);
        let mut played = said("played", 1, "I live in a tower by the river.");
        played.sources = vec![model::MessageId::new("played")];
        let mut tower = said("tower", 1, "The tower by the river is old.");
        tower.session.clone_from(&played.session);
        let own = said(
            "own",
            2,
            "I live in Hull since the spring of last year, with three cats.",
        );
        corpus([played, tower, own].into_iter().chain(mark))
    };
    let found = |mark| ask("Where do I live?").of(&rows(mark)).messages;
    assert_eq!(ids(&found(None))[0], "played");
    for (label, source) in [(model::SCENE, None), (model::WRONG, Some("played"))] {
        let found = found(Some(taken_back("played", label, source)));
        assert_eq!(ids(&found)[0], "own", "{label}");
        let of = |id: &str| found.iter().find(|hit| *hit.doc.key.id == *id).expect("a hit");
        assert!(of("played").is_withdrawn && !of("own").is_withdrawn, "{label}");
        assert_eq!(
            of("tower").is_withdrawn,
            label == model::SCENE,
            "all of a scene, one message of a fact"
        );
    }
}
