//! The corpus through its public functions: properties over any rows, and examples of each kind of
//! evidence.
#![expect(clippy::float_cmp, reason = "the same evidence must give the same number")]

use std::sync::Arc;

use model::{
    Comparison, Doc, DocKey, DocKind, EntryId, EntryKind, Field, Filter, MessageId, Name, Origin, Owner,
    Parent, ParentKind, Role, Scope, SenderId, SessionId, Timestamp, Value, Zone,
};
use proptest::prelude::*;
use testkit::index::cities::CITY_SENTENCES;

use super::{Corpus, Cosines, Hit, Method, Query, Ranking, cut_to_tokens};

const DAY_MS: i64 = 86_400_000;

/// A day in 2023, counted from 1 January.
pub(crate) fn day(n: i64) -> Timestamp {
    Timestamp::from_millis(1_672_531_200_000 + n * DAY_MS)
}

/// The owner of every row.
pub(crate) fn ann() -> Owner {
    Owner::user(Name::parse("ann").expect("a name"))
}

pub(crate) fn row(id: &str, kind: DocKind, time: Timestamp, text: &str) -> Doc {
    let is_turn = kind == DocKind::Turn;
    Doc {
        key: DocKey {
            scope: Scope::default(),
            owner: ann(),
            id: id.into(),
        },
        kind,
        session: None,
        parent: None,
        seq: 0,
        time,
        valid_from: None,
        valid_until: None,
        supersedes: Vec::new(),
        superseded_by: None,
        origin: Origin::User,
        role: is_turn.then_some(Role::User),
        speaker: is_turn.then(|| "Ann".to_owned()),
        senders: vec![SenderId::parse("ann").expect("a sender")],
        labels: Vec::new(),
        confidence_percent: None,
        sources: Vec::new(),
        subject: String::new(),
        summary: String::new(),
        text: text.to_owned(),
        path: "".into(),
        vector: None,
    }
}

pub(crate) fn turn(id: &str, session: &str, time: Timestamp, speaker: &str, text: &str) -> Doc {
    Doc {
        session: Some(SessionId::parse(session).expect("a session")),
        speaker: Some(speaker.to_owned()),
        senders: vec![SenderId::parse(&speaker.to_lowercase()).expect("a sender")],
        ..row(id, DocKind::Turn, time, text)
    }
}

pub(crate) fn fact(id: &str, time: Timestamp, text: &str) -> Doc {
    row(id, DocKind::Entry(EntryKind::Fact), time, text)
}

pub(crate) fn episode(id: &str) -> Parent {
    Parent {
        kind: ParentKind::Episode,
        id: id.to_owned(),
    }
}

pub(crate) fn corpus(docs: impl IntoIterator<Item = Doc>) -> Corpus {
    let mut corpus = Corpus::default();
    for doc in docs {
        corpus.upsert(doc);
    }
    corpus
}

pub(crate) struct Ask<'a> {
    pub(crate) text: &'a str,
    pub(crate) vector: Option<&'a [f32]>,
    pub(crate) cosines: Cosines,
    pub(crate) method: Method,
    pub(crate) filter: Option<&'a Filter>,
    pub(crate) as_of: Option<Timestamp>,
    pub(crate) limit: usize,
}

pub(crate) fn ask(text: &str) -> Ask<'_> {
    Ask {
        text,
        vector: None,
        cosines: Cosines::default(),
        method: Method::Hybrid,
        filter: None,
        as_of: None,
        limit: 50,
    }
}

impl Ask<'_> {
    pub(crate) fn of(&self, corpus: &Corpus) -> Ranking {
        corpus.search(&Query {
            text: self.text,
            vector: self.vector,
            cosines: self.cosines,
            method: self.method,
            filter: self.filter,
            asked_at: day(200),
            zone: &Zone::utc(),
            as_of: self.as_of,
            memories_max: self.limit,
            messages_max: self.limit,
            score_min: 0.0,
        })
    }
}

pub(crate) fn ids(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| &*hit.doc.key.id).collect()
}

fn all_hits(ranking: &Ranking) -> impl Iterator<Item = &Hit> {
    let memories = ranking
        .memories
        .iter()
        .flat_map(|hit| std::iter::once(hit).chain(&hit.facts));
    memories.chain(&ranking.messages)
}

// Examples.

#[test]
fn an_answer_next_to_its_question_is_found() {
    let corpus = corpus([
        turn(
            "1",
            "s",
            day(1),
            "Ann",
            "Which instrument does your sister play nowadays?",
        ),
        turn("2", "s", day(1), "Bob", "The cello, since last winter."),
        turn("3", "t", day(2), "Bob", "The weather was dreadful."),
        turn("4", "u", day(3), "Ann", "I bought a lamp."),
    ]);
    let found = ask("What instrument does the sister play?").of(&corpus);
    assert_eq!(ids(&found.messages)[..2], ["1", "2"]);
    let answer = &found.messages[1];
    assert!(answer.why.neighbours > 0.1 && answer.why.keyword == 0.0 && answer.why.terms.is_empty());
    assert!(found.messages[2].why.neighbours == 0.0);
    assert_eq!(found.messages[0].why.terms, ["instrument", "sister", "play"]);
}

#[test]
fn the_turn_of_another_session_is_no_neighbour_though_the_next_one_is_too_new() {
    let corpus = corpus([
        turn("1", "s", day(1), "Ann", "It was fun."),
        turn(
            "2",
            "s",
            Timestamp::from_millis(day(1).millis() + 1),
            "Ann",
            "It rained.",
        ),
        turn("3", "t", day(1), "Bob", "My sister plays the cello."),
    ]);
    let as_of = Some(day(1));
    let found = Ask {
        as_of,
        ..ask("Who plays the cello?")
    }
    .of(&corpus);
    assert_eq!(ids(&found.messages), ["3", "1"]);
    assert!(found.messages[0].why.neighbours > 0.1);
    assert_eq!(found.messages[1].why.neighbours, 0.0);
}

#[test]
fn a_long_neighbour_lends_less() {
    let long = "word ".repeat(300);
    let near = |text: &str| {
        let corpus = corpus([
            turn("1", "s", day(1), "Ann", "Do you play the cello?"),
            turn("2", "s", day(1), "Bob", text),
        ]);
        let found = ask("cello").of(&corpus);
        found
            .messages
            .iter()
            .find(|hit| &*hit.doc.key.id == "2")
            .expect("listed")
            .why
            .neighbours
    };
    assert!(near("Yes, gladly.") > 4.0 * near(&long));
}

#[test]
fn the_named_speaker_comes_first() {
    let corpus = corpus([
        turn("1", "s", day(1), "Bob", "Ann, I painted a sunrise."),
        turn("2", "t", day(2), "Ann", "Bob, I painted a sunrise."),
    ]);
    assert_eq!(ids(&ask("What did Ann paint?").of(&corpus).messages), ["2", "1"]);
    assert_eq!(ids(&ask("What did Bob paint?").of(&corpus).messages), ["1", "2"]);
    assert_eq!(
        ids(&ask("What did I paint?").of(&corpus).messages),
        ["2", "1"],
        "the owner is Ann"
    );
}

#[test]
fn a_time_in_the_question_lifts_rows_and_hides_none() {
    let corpus = corpus([
        turn("early", "s", day(10), "Ann", "We went hiking."),
        turn("may", "t", day(130), "Ann", "We went hiking."),
        turn("late", "u", day(190), "Ann", "We went hiking."),
    ]);
    let found = ask("When did we go hiking last May?").of(&corpus);
    assert_eq!(ids(&found.messages)[0], "may");
    assert_eq!(found.messages.len(), 3);
    assert_eq!(found.messages[0].why.time, Some(1.0));
    assert!(found.messages[1].why.time.is_some_and(|fit| fit < 1.0));
    let (from, to) = found.span.expect("May");
    assert_eq!((from, to), (day(120), day(151)));
    let found = ask("When did we go hiking?").of(&corpus);
    assert_eq!((found.span, found.messages[0].why.time), (None, None));
}

#[test]
fn a_fact_is_found_by_the_time_it_holds() {
    let old = Doc {
        valid_from: Some(day(120)),
        valid_until: Some(day(140)),
        ..fact("old", day(190), "Ann was ill")
    };
    let corpus = corpus([old, fact("new", day(191), "Ann was ill")]);
    assert_eq!(ids(&ask("illness in May").of(&corpus).memories), ["old", "new"]);
}

#[test]
fn vectors_find_rows_without_common_words() {
    let with = |doc: Doc, vector: [f32; 3]| Doc {
        vector: Some(Arc::from(vector)),
        ..doc
    };
    let corpus = corpus([
        with(
            turn("cat", "s", day(1), "Ann", "My kitten sleeps."),
            [1.0, 0.1, 0.0],
        ),
        with(
            turn("car", "t", day(2), "Ann", "The engine broke."),
            [0.0, 1.0, 0.1],
        ),
        with(turn("sea", "u", day(3), "Ann", "Waves all day."), [0.1, 0.0, 1.0]),
    ]);
    let vector = [1.0, 0.0, 0.0];
    for method in [Method::Vector, Method::Hybrid] {
        let found = Ask {
            vector: Some(&vector),
            method,
            ..ask("feline pet")
        }
        .of(&corpus);
        assert_eq!(ids(&found.messages)[0], "cat");
        assert!(found.messages[0].why.vector > found.messages[1].why.vector);
        assert_eq!(found.messages[0].why.keyword, 0.0);
    }
    let found = Ask {
        vector: Some(&vector),
        method: Method::Keyword,
        ..ask("engine")
    }
    .of(&corpus);
    assert_eq!(
        (ids(&found.messages)[0], found.messages[0].why.vector),
        ("car", 0.0)
    );
    let other_size = [1.0, 0.0];
    let found = Ask {
        vector: Some(&other_size),
        ..ask("engine")
    }
    .of(&corpus);
    assert_eq!(
        ids(&found.messages)[0],
        "car",
        "a vector of another model is as if missing"
    );
}

#[test]
fn a_model_with_crowded_cosines_ranks_as_a_spread_one() {
    // Every vector shares most of its length with all others, so cosines lie between 0.9 and 1.
    let crowded = |vector: [f32; 3]| {
        let all = [vector[0] * 0.3, vector[1] * 0.3, vector[2] * 0.3, 1.0];
        let length = all.iter().map(|n| n * n).sum::<f32>().sqrt();
        all.map(|n| n / length)
    };
    let (cat, car, sea) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
    let docs = [("cat", cat), ("car", car), ("sea", sea)].map(|(id, vector)| Doc {
        vector: Some(Arc::from(crowded(vector))),
        ..turn(id, id, day(1), "Ann", "Hm.")
    });
    let corpus = corpus(docs);
    let vector = crowded(cat);
    let questions = [crowded([0.5, 0.8, 0.3]), crowded([-0.3, 0.6, 0.7])];
    let statements = [
        crowded([0.9, -0.4, 0.2]),
        crowded([0.1, 0.3, -0.9]),
        crowded([-0.6, -0.7, 0.4]),
    ];
    // How far the related row's evidence lies above the others'.
    let evidence = |cosines: Cosines| {
        let found = Ask {
            vector: Some(&vector),
            cosines,
            ..ask("feline pet")
        }
        .of(&corpus);
        assert_eq!(ids(&found.messages)[0], "cat");
        found.messages[0].why.vector - found.messages[1].why.vector
    };
    let measured = Cosines::of(&questions, &statements).expect("vectors that differ");
    let (blind, seeing) = (evidence(Cosines::default()), evidence(measured));
    assert!(seeing > 3.0 * blind, "{seeing} {blind}");
}

#[test]
fn a_row_put_again_keeps_its_vector_while_its_text_stays() {
    let doc = Doc {
        vector: Some(Arc::from([1.0, 0.0])),
        ..turn("1", "s", day(1), "Ann", "kitten")
    };
    let mut corpus = corpus([doc]);
    let evidence = |corpus: &Corpus| {
        let found = Ask {
            vector: Some(&[1.0, 0.0]),
            ..ask("x")
        }
        .of(corpus);
        found.messages[0].why.vector
    };
    let before = evidence(&corpus);
    assert!(before > 0.0);
    let again = Doc {
        seq: 7,
        ..corpus.get("1").expect("there")
    };
    assert_eq!(again.vector, None);
    corpus.upsert(again.clone());
    assert_eq!(evidence(&corpus), before);
    corpus.upsert(Doc {
        text: "dog".to_owned(),
        ..again
    });
    assert_eq!(evidence(&corpus), 0.0);
}

fn moved() -> Corpus {
    let new = Doc {
        supersedes: vec![EntryId::new("f1")],
        sources: vec![MessageId::new("2")],
        ..fact("f2", day(100), "Ann lives in Lisbon")
    };
    let old = Doc {
        sources: vec![MessageId::new("1")],
        ..fact("f1", day(10), "Ann lives in Berlin, a city")
    };
    corpus([
        old,
        new,
        turn("1", "s", day(10), "Ann", "I live in Berlin, a city."),
        turn("2", "t", day(100), "Ann", "I moved to Lisbon."),
    ])
}

#[test]
fn a_superseded_fact_comes_after_its_successor() {
    let found = ask("In which city does Ann live?").of(&moved());
    assert_eq!(ids(&found.memories), ["f2", "f1"]);
    assert_eq!(
        ids(&found.messages),
        ["2", "1"],
        "and so do the turns that told them"
    );
    assert_eq!(found.memories[1].superseded_by, Some(EntryId::new("f2")));
    assert_eq!(found.memories[0].superseded_by, None);
    assert!(found.memories[1].why.freshness < found.memories[0].why.freshness);
    let told = |ranking: &Ranking| {
        ranking
            .messages
            .iter()
            .find(|hit| &*hit.doc.key.id == "1")
            .expect("listed")
            .score
    };
    let before = Ask {
        as_of: Some(day(50)),
        ..ask("In which city does Ann live?")
    }
    .of(&moved());
    assert!(told(&found) < told(&before), "what told it is lowered a little");
}

#[test]
fn as_of_shows_the_facts_of_that_time() {
    let found = Ask {
        as_of: Some(day(50)),
        ..ask("Where does Ann live?")
    }
    .of(&moved());
    assert_eq!(ids(&found.memories), ["f1"]);
    assert_eq!(found.memories[0].superseded_by, None);
    assert_eq!(ids(&found.messages), ["1"]);
}

#[test]
fn a_question_about_the_past_finds_the_fact_of_that_time() {
    let found = ask("Where did Ann live in January, in which city?").of(&moved());
    assert_eq!(ids(&found.memories)[0], "f1");
    assert_eq!(found.memories[0].superseded_by, Some(EntryId::new("f2")));
}

#[test]
fn a_change_announced_ahead_does_not_hold_yet() {
    let new = Doc {
        supersedes: vec![EntryId::new("f1")],
        valid_from: Some(day(300)),
        ..fact("f2", day(100), "Ann will live in Lisbon")
    };
    let corpus = corpus([fact("f1", day(10), "Ann lives in Berlin"), new]);
    let found = ask("Where does Ann live? In Berlin?").of(&corpus);
    assert!(found.memories.iter().all(|hit| hit.superseded_by.is_none()));
    assert_eq!(ids(&found.memories)[0], "f1");
}

#[test]
fn the_last_fact_of_a_chain_is_named_and_comes_first() {
    let next = |id: &str, old: &str, n: i64, text: &str| Doc {
        supersedes: vec![EntryId::new(old)],
        ..fact(id, day(n), text)
    };
    let corpus = corpus([
        fact("a", day(1), "Ann works at Acme as a baker"),
        next("b", "a", 2, "Ann works at Bolt"),
        next("c", "b", 3, "Ann has a job at Cora"),
    ]);
    let found = ask("Where does Ann work as a baker?").of(&corpus);
    assert_eq!(ids(&found.memories)[0], "c");
    assert!(
        found.memories[1..]
            .iter()
            .all(|hit| hit.superseded_by == Some(EntryId::new("c")))
    );
}

#[test]
fn facts_lend_strength_to_turns_and_turns_to_their_episode() {
    let told = |text: &str| turn("1", "s", day(1), "Ann", text);
    let plain = || {
        [
            told("Rex is his name."),
            turn("2", "t", day(2), "Ann", "Max is his name."),
        ]
    };
    let alone = ask("dog name").of(&corpus(plain()));
    let lent = Doc {
        sources: vec![MessageId::new("1")],
        ..fact("f", day(1), "Ann's dog is called Rex")
    };
    let with_fact = ask("dog name").of(&corpus(plain().into_iter().chain([lent])));
    let score = |ranking: &Ranking| {
        ranking
            .messages
            .iter()
            .find(|hit| &*hit.doc.key.id == "1")
            .expect("listed")
            .score
    };
    assert!(score(&with_fact) > score(&alone));

    let told_by = |id: &str| row(id, DocKind::Entry(EntryKind::Episode), day(3), "They talked.");
    let child = |doc: Doc, id: &str| Doc {
        parent: Some(episode(id)),
        ..doc
    };
    let both = corpus([
        told_by("e1"),
        told_by("e2"),
        child(told("Nothing new here."), "e1"),
        child(turn("2", "t", day(2), "Ann", "Our dog Max barked."), "e2"),
        child(fact("f", day(2), "Ann has a dog called Max"), "e2"),
    ]);
    let found = ask("dog").of(&both);
    assert_eq!(ids(&found.memories), ["e2", "e1"]);
    assert_eq!(
        ids(&found.memories[0].facts),
        ["f"],
        "a fact is shown with its episode"
    );
    assert!(found.memories[0].score >= found.memories[0].facts[0].score);
}

/// The contract of the index: keyword search there and here reads a text alike.
#[test]
fn a_single_different_word_is_found_in_any_script() {
    for told in &CITY_SENTENCES {
        let sentences = told.sentences();
        let rows = (0..).zip(&sentences);
        let all = corpus(rows.map(|(number, text)| {
            let id = format!("{number}");
            turn(&id, &id, day(10), "Ann", text)
        }));
        for (number, city) in told.queries() {
            let found = ask(city).of(&all);
            assert_eq!(
                ids(&found.messages)[0],
                format!("{number}"),
                "{city} in {}",
                told.language
            );
        }
    }
}

#[test]
fn words_of_asking_have_little_weight() {
    let corpus = corpus([
        turn(
            "1",
            "s",
            day(1),
            "Ann",
            "Can you suggest and recommend some ideas, any suggestions?",
        ),
        turn(
            "2",
            "t",
            day(2),
            "Ann",
            "I collect cameras of all kinds, mostly from flea markets.",
        ),
    ]);
    assert_eq!(
        ids(&ask("Can you suggest some ideas for my cameras?")
            .of(&corpus)
            .messages)[0],
        "2"
    );
}

#[test]
fn scripts_without_spaces_are_found() {
    let corpus = corpus([
        turn("1", "s", day(1), "Ann", "我去年搬到北京了"),
        turn("2", "t", day(2), "Ann", "昨日は東京タワーへ行った"),
        turn("3", "u", day(3), "Ann", "서울에 살아요"),
    ]);
    assert_eq!(ids(&ask("北京").of(&corpus).messages)[0], "1");
    assert_eq!(ids(&ask("東京タワー").of(&corpus).messages)[0], "2");
    assert_eq!(ids(&ask("서울에서").of(&corpus).messages)[0], "3");
}

#[test]
fn a_word_is_found_in_another_form_and_a_name_in_another_language() {
    let corpus = corpus([
        turn(
            "de",
            "a",
            day(1),
            "Ann",
            "Ich arbeite dienstags in der Filiale in Göttingen, wegen der Städte.",
        ),
        turn(
            "es",
            "b",
            day(2),
            "Ann",
            "Mis hermanas trabajan en una panadería de Cuenca.",
        ),
        turn(
            "fr",
            "c",
            day(3),
            "Ann",
            "Je bois de l'infusion tous les soirs, c'est très bon.",
        ),
        turn(
            "it",
            "d",
            day(4),
            "Ann",
            "Non so se i miei colleghi lavorano ancora con i treni per Lucca.",
        ),
        turn(
            "pt",
            "e",
            day(5),
            "Ann",
            "Os meus vizinhos compraram um barco em Faro.",
        ),
        turn("en", "f", day(6), "Ann", "The weather was dreadful."),
    ]);
    for (question, id) in [
        ("Welche Stadt, und wo habe ich gearbeitet?", "de"),
        ("¿Dónde trabaja mi hermana?", "es"),
        ("Quelles infusions est-ce que je bois ?", "fr"),
        ("Con chi lavora il mio collega?", "it"),
        ("O que comprou o meu vizinho?", "pt"),
        ("What do I do in Göttingen?", "de"),
        ("What is there in Cuenca?", "es"),
    ] {
        let found = ask(question).of(&corpus).messages;
        assert_eq!(ids(&found)[0], id, "{question}");
        assert!(!found[0].why.terms.is_empty(), "{question}");
    }
}

#[test]
fn a_question_to_the_assistant_finds_the_assistants_answer() {
    let said = "The bus to the harbour leaves from the church.";
    let reply = Doc {
        role: Some(Role::Assistant),
        ..turn("reply", "b", day(2), "Assistant", said)
    };
    let corpus = corpus([turn("own", "a", day(1), "Cal", said), reply]);
    let found = |question: &str| ids(&ask(question).of(&corpus).messages).join(" ");
    assert_eq!(found("Which bus to the harbour did you recommend?"), "reply own");
    assert_eq!(found("Which bus goes to the harbour?"), "own reply");
}

#[test]
fn a_score_means_the_same_in_a_large_corpus() {
    let wanted = || turn("x", "s", day(1), "Ann", "My dentist is Doctor Quill.");
    let filler = |n: i64| {
        turn(
            &format!("f{n}"),
            &format!("t{n}"),
            day(n % 150),
            "Bob",
            "We talked about lamps and rain.",
        )
    };
    let score = |count: i64| {
        let corpus = corpus((0..count).map(filler).chain([wanted()]));
        ask("Who is my dentist?").of(&corpus).messages[0].score
    };
    let (small, large) = (score(3), score(3_000));
    assert!((small - large).abs() < 0.1, "{small} and {large}");
}

#[test]
fn a_word_weighs_more_in_a_short_row_than_in_a_long_one() {
    let short = "Ann mends kites.";
    let long =
        "Ann mends kites, then she sweeps the floor, waters the ferns and writes long letters to Oslo.";
    let mut corpus = corpus([fact("one", day(1), short), fact("other", day(1), long)]);
    let keyword = |corpus: &Corpus| {
        let hits = ask("kites").of(corpus).memories;
        ["one", "other"].map(|id| {
            let hit = hits.iter().find(|hit| &*hit.doc.key.id == id);
            hit.expect("both have the word").why.keyword
        })
    };
    let [one, other] = keyword(&corpus);
    assert!(one > other, "{one} and {other}");
    // A replaced row has the length of its new text.
    corpus.upsert(fact("one", day(1), long));
    corpus.upsert(fact("other", day(1), short));
    assert_eq!(keyword(&corpus), [other, one]);
}

#[test]
fn a_cut_keeps_the_best_that_fit() {
    let doc = |id: &str, chars: usize| Arc::new(row(id, DocKind::Turn, day(1), &"x".repeat(chars)));
    let hit = |id: &str, score: f32, chars: usize| Hit {
        doc: doc(id, chars),
        score,
        why: super::Why::default(),
        superseded_by: None,
        later: None,
        is_withdrawn: false,
        taken_back: std::collections::BTreeSet::new(),
        ended: Vec::new(),
        facts: Vec::new(),
    };
    let ranking = || Ranking {
        memories: vec![hit("m1", 0.9, 40), hit("m2", 0.3, 40)],
        messages: vec![hit("t0", 0.95, 4_000), hit("t1", 0.8, 40), hit("t2", 0.5, 40)],
        ..Ranking::default()
    };
    let kept = |tokens: usize| {
        let mut ranking = ranking();
        cut_to_tokens(&mut ranking, tokens);
        [ids(&ranking.memories).join(" "), ids(&ranking.messages).join(" ")].join("|")
    };
    assert_eq!(kept(30), "m1|t1 t2");
    assert_eq!(kept(29), "m1|t1");
    assert_eq!(kept(10), "m1|");
    assert_eq!(kept(0), "|");
    assert_eq!(kept(2_000), "m1 m2|t0 t1 t2");
    let mut wide = Ranking {
        messages: vec![hit("w", 0.5, 0)],
        ..Ranking::default()
    };
    Arc::make_mut(&mut wide.messages[0].doc).text = "北京".repeat(10);
    cut_to_tokens(&mut wide, 19);
    assert!(wide.messages.is_empty(), "twenty characters are twenty tokens");
}

#[test]
fn a_question_with_only_a_time_lists_rows_of_that_time_first() {
    let corpus = corpus([
        turn(
            "talk",
            "s",
            day(10),
            "Ann",
            "So what happened? We talk about what happened last week.",
        ),
        turn(
            "may",
            "t",
            day(125),
            "Bob",
            "The pipes in the cellar burst and we called a plumber.",
        ),
        turn("ok", "t", day(125), "Ann", "Oh no."),
        turn(
            "june",
            "u",
            day(160),
            "Ann",
            "I talked to May about May, and much happened since May.",
        ),
    ]);
    for text in [
        "What happened last May?",
        "What did we talk about in May",
        "anything new in May?",
        "May 2023",
        "Tell me everything that went on in May, please remind me",
    ] {
        let found = ask(text).of(&corpus);
        assert_eq!(ids(&found.messages)[..2], ["may", "ok"], "{text}");
        assert!(
            found.messages[0].score > 0.5 && found.messages[2].score < 0.5,
            "{text}"
        );
        assert!(found.messages[0].why.terms.is_empty(), "{text}");
    }
    let found = ask("What did Ann say in May?").of(&corpus);
    assert_eq!(
        ids(&found.messages)[..2],
        ["ok", "may"],
        "of the one who is named"
    );
    let found = ask("What happened to the cellar?").of(&corpus);
    assert_eq!(ids(&found.messages)[0], "may");
    assert_eq!(found.messages[0].why.terms, ["cellar"]);
}

#[test]
fn a_question_without_subject_or_time_lists_the_latest_first() {
    let corpus = corpus([
        turn(
            "old",
            "s",
            day(10),
            "Ann",
            "Is there anything new? Tell me about it, I talk a lot.",
        ),
        turn(
            "late",
            "t",
            day(199),
            "Ann",
            "The boiler works again since this morning.",
        ),
        turn("hm", "t", day(199), "Ann", "Hm?"),
    ]);
    for text in ["Anything new?", "What did we talk about", ""] {
        assert_eq!(
            ids(&ask(text).of(&corpus).messages),
            ["late", "hm", "old"],
            "{text}"
        );
    }
}

#[test]
fn a_fact_that_began_in_a_time_comes_before_one_that_only_held() {
    let since = |id: &str, from: i64, text: &str| Doc {
        valid_from: Some(day(from)),
        ..fact(id, day(190), text)
    };
    let corpus = corpus([
        since(
            "long",
            10,
            "Ann lives in Lisbon with her two dogs and many plants",
        ),
        since("then", 130, "Ann runs a bakery"),
    ]);
    assert_eq!(
        ids(&ask("What happened in May?").of(&corpus).memories),
        ["then", "long"]
    );
}

#[test]
fn an_entry_that_held_at_the_asked_time_stays_before_its_successor() {
    let told = |id: &str, time, text: &str| row(id, DocKind::Entry(EntryKind::Episode), time, text);
    let of = |fact: Doc, id: &str| Doc {
        parent: Some(episode(id)),
        ..fact
    };
    let corpus = corpus([
        told("e1", day(10), "Ann told where she lives"),
        of(fact("f1", day(10), "Ann lives in Lisbon"), "e1"),
        told("e2", day(100), "Ann talked about boxes"),
        Doc {
            supersedes: vec![EntryId::new("f1")],
            ..of(fact("f2", day(100), "Ann moved to Porto"), "e2")
        },
    ]);
    assert_eq!(
        ids(&ask("What happened last January?").of(&corpus).memories),
        ["e1", "e2"]
    );
}

// Properties.

const WORDS: &str =
    "dog cat lamp rain Ann Bob lives Berlin Lisbon yesterday May 7 北京 why? the last week suggest";

fn words(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let words: Vec<&'static str> = WORDS.split(' ').collect();
    proptest::collection::vec(proptest::sample::select(words), count).prop_map(|words| words.join(" "))
}

fn some_id() -> impl Strategy<Value = String> {
    (0..12u8).prop_map(|n| format!("r{n}"))
}

fn some_row() -> impl Strategy<Value = Doc> {
    let kinds = [
        DocKind::Turn,
        DocKind::Turn,
        DocKind::Entry(EntryKind::Episode),
        DocKind::Entry(EntryKind::Fact),
    ];
    let vector = proptest::option::of(proptest::array::uniform4(-1.0f32..1.0));
    let when = (
        0..30i64,
        proptest::option::of(0..40i64),
        proptest::option::of(0..40i64),
    );
    let kin = (
        proptest::option::of(some_id()),
        proptest::collection::vec(some_id(), 0..2),
        some_id(),
    );
    (
        some_id(),
        proptest::sample::select(kinds.to_vec()),
        words(0..8),
        0..4u8,
        0..3u32,
        when,
        kin,
        vector,
    )
        .prop_map(
            |(id, kind, text, session, seq, (time, from, until), (parent, supersedes, source), vector)| {
                let is_turn = kind == DocKind::Turn;
                Doc {
                    session: (session > 0)
                        .then(|| SessionId::parse(&format!("s{session}")).expect("a session")),
                    parent: parent.map(|id| episode(&id)),
                    seq,
                    valid_from: from.map(day),
                    valid_until: until.map(day),
                    supersedes: supersedes
                        .iter()
                        .filter(|_| !is_turn)
                        .map(|id| EntryId::new(id.as_str()))
                        .collect(),
                    superseded_by: (seq == 2 && !is_turn).then(|| EntryId::new(source.as_str())),
                    sources: vec![MessageId::new(source)],
                    vector: vector.map(Arc::from),
                    speaker: is_turn.then(|| if session > 1 { "Ann" } else { "Bob" }.to_owned()),
                    ..row(&id, kind, day(time), &text)
                }
            },
        )
}

fn rows(count: usize) -> impl Strategy<Value = Vec<Doc>> {
    proptest::collection::vec(some_row(), 0..count)
}

fn method() -> impl Strategy<Value = Method> {
    proptest::sample::select(vec![Method::Keyword, Method::Vector, Method::Hybrid])
}

const TIMES: [&str; 5] = [
    "on 7 January 2023",
    "in January 2023",
    "in the past two years",
    "on 2023-01-20",
    "this year",
];

/// Words without information, before and after a time.
fn open_question() -> impl Strategy<Value = String> {
    let empty = || {
        let words = "what happened did we talk about anything new tell me things everything discussed go";
        let words: Vec<&'static str> = words.split(' ').collect();
        proptest::collection::vec(proptest::sample::select(words), 0..5).prop_map(|words| words.join(" "))
    };
    (empty(), proptest::sample::select(TIMES.to_vec()), empty())
        .prop_map(|(before, time, after)| format!("{before} {time} {after}?"))
}

/// The time in an open question.
fn found_time(question: &str) -> String {
    let time = TIMES.iter().find(|time| question.contains(**time));
    (*time.expect("every question has one")).to_owned()
}

fn falls(hits: &[Hit]) -> bool {
    hits.is_sorted_by(|a, b| a.score >= b.score)
}

proptest! {
    #[test]
    fn a_changed_corpus_ranks_like_a_fresh_one(
        steps in proptest::collection::vec((some_row(), 0..4u8), 0..40),
        text in words(1..6), method in method(), vector in proptest::array::uniform4(-1.0f32..1.0),
    ) {
        let ask = Ask { vector: Some(&vector), method, ..ask(&text) };
        let mut lived = Corpus::default();
        let mut last = std::collections::BTreeMap::new();
        for (doc, step) in steps {
            let id = doc.key.id.clone();
            let known = last.remove(&id);
            match (step, known) {
                (0, known) => prop_assert_eq!(lived.remove(&id), known.is_some()),
                // The row in another place and at another time, as when a buffered message is written.
                (1, Some(known)) => {
                    let Doc { seq, time, session, parent, .. } = doc;
                    let written = Doc { seq, time, session, parent, ..known };
                    lived.upsert(written.clone());
                    last.insert(id, written);
                }
                (_, _) => {
                    lived.remove(&id);
                    lived.upsert(doc.clone());
                    last.insert(id, doc);
                }
            }
            // A search fills caches, which must not outlive a change.
            ask.of(&lived);
        }
        let given: Vec<Doc> = last.values().map(|doc| Doc { vector: None, ..doc.clone() }).collect();
        prop_assert_eq!(lived.iter().collect::<Vec<_>>(), given, "as they were given");
        let fresh = corpus(last.into_values().rev());
        prop_assert_eq!(lived.len(), fresh.len());
        prop_assert!(lived.iter().eq(fresh.iter()));
        prop_assert_eq!(ask.of(&lived), ask.of(&fresh));
    }

    #[test]
    fn a_ranking_keeps_its_limits_order_and_visibility(
        docs in rows(30), text in words(0..6), method in method(), limit in 0..20usize,
        as_of in proptest::option::of(0..35i64), session in proptest::option::of(0..5u8),
        vector in proptest::option::of(proptest::array::uniform4(-1.0f32..1.0)),
    ) {
        let corpus = corpus(docs);
        let filter = session.map(|n| {
            Filter::Compare(Field::SessionId, Comparison::Eq, Value::Text(format!("s{n}")))
        });
        let ask = Ask {
            method, limit, as_of: as_of.map(day), filter: filter.as_ref(),
            vector: vector.as_ref().map(<[f32; 4]>::as_slice), ..ask(&text)
        };
        let found = ask.of(&corpus);
        prop_assert_eq!(&found, &ask.of(&corpus));
        prop_assert!(found.memories.len() <= limit && found.messages.len() <= limit);
        prop_assert!(falls(&found.memories) && falls(&found.messages));
        let mut seen = std::collections::BTreeSet::new();
        for hit in all_hits(&found) {
            prop_assert!((0.0..=1.0).contains(&hit.score));
            prop_assert!(seen.insert(hit.doc.key.id.clone()));
            prop_assert!(as_of.is_none_or(|n| hit.doc.time <= day(n)));
            prop_assert!(filter.as_ref().is_none_or(|filter| filter.matches((&*hit.doc).into())));
            prop_assert!(hit.doc.vector.is_none());
            let why = &hit.why;
            for part in [why.keyword, why.vector, why.freshness, why.session, why.neighbours, why.time.unwrap_or(0.0)] {
                prop_assert!((0.0..=1.0001).contains(&part));
            }
            prop_assert!(why.terms.iter().all(|term| text.contains(term.as_str())));
        }
        for hit in found.memories.iter().chain(found.memories.iter().flat_map(|hit| &hit.facts)) {
            if let Some(new) = &hit.superseded_by {
                let newer = corpus.get(new.as_str()).expect("what superseded is a row");
                prop_assert!(as_of.is_none_or(|n| newer.time <= day(n)));
            }
        }
    }

    #[test]
    fn the_newer_fact_is_never_below_the_one_it_superseded(
        texts in proptest::collection::vec(words(1..6), 2..6), text in words(1..6),
    ) {
        let chain = texts.iter().enumerate().map(|(n, text)| Doc {
            supersedes: n.checked_sub(1).map(|old| EntryId::new(format!("f{old}"))).into_iter().collect(),
            ..fact(&format!("f{n}"), day(i64::try_from(n).expect("few")), text)
        });
        let last = format!("f{}", texts.len() - 1);
        let found = ask(&text).of(&corpus(chain));
        prop_assert_eq!(ids(&found.memories)[0], last.as_str());
    }

    #[test]
    fn a_supersession_counts_the_same_whichever_entry_names_it(
        texts in proptest::collection::vec((words(1..6), any::<bool>()), 2..7), text in words(1..6),
        as_of in proptest::option::of(0..8i64),
    ) {
        let (early, late) = (|n: usize| format!("f{n}"), |n: usize| format!("m{n}"));
        let of = |is_late: &dyn Fn(usize) -> bool| {
            let rows = texts.iter().enumerate().flat_map(|(n, (text, _))| {
                let at = day(i64::try_from(n).expect("few"));
                let older = n.checked_sub(1).filter(|old| !is_late(*old));
                let newer = Some(n + 1).filter(|new| *new < texts.len() && is_late(n));
                let told = Doc {
                    supersedes: older.map(|old| EntryId::new(early(old))).into_iter().collect(),
                    superseded_by: newer.map(|new| EntryId::new(early(new))),
                    sources: vec![MessageId::new(late(n))],
                    ..fact(&early(n), at, text)
                };
                [told, turn(&late(n), &format!("s{n}"), at, "Ann", text)]
            });
            let found = Ask { as_of: as_of.map(day), ..ask(&text) }.of(&corpus(rows));
            let line = |hit: &Hit| (hit.doc.key.id.clone(), hit.score, hit.superseded_by.clone(), hit.later.clone());
            (
                found.memories.iter().map(line).collect::<Vec<_>>(),
                found.messages.iter().map(line).collect::<Vec<_>>(),
            )
        };
        prop_assert_eq!(of(&|n| texts[n].1), of(&|_| false));
    }

    #[test]
    fn a_question_with_only_a_time_puts_rows_of_that_time_first(
        docs in rows(30), open in open_question(), method in method(),
        vector in proptest::array::uniform4(-1.0f32..1.0),
    ) {
        let childless = docs.into_iter().map(|doc| Doc { parent: None, supersedes: Vec::new(), superseded_by: None, ..doc });
        let corpus = corpus(childless);
        let found = Ask { method, vector: Some(&vector), ..ask(&open) }.of(&corpus);
        let (from, to) = found.span.expect("a time");
        let lies = |at: Timestamp| from <= at && at < to;
        for hits in [&found.memories, &found.messages] {
            let is_in = |hit: &Hit| {
                let doc = &hit.doc;
                let held = doc.valid_from.is_some_and(|start| {
                    let end = doc.valid_until.map_or(start, |end| end.max(start));
                    start < to && from <= end
                });
                lies(doc.time) || held
            };
            prop_assert!(hits.iter().map(is_in).is_sorted_by(|a, b| a >= b));
        }
        let plain = Ask { method, vector: Some(&vector), ..ask(&found_time(&open)) }.of(&corpus);
        prop_assert_eq!(ids(&found.memories), ids(&plain.memories), "words that tell nothing change nothing");
        prop_assert_eq!(ids(&found.messages), ids(&plain.messages));
    }

    #[test]
    fn any_question_is_answered_without_panic(text in any::<String>(), docs in rows(10)) {
        ask(&text).of(&corpus(docs));
    }

    #[test]
    fn a_minimum_score_only_cuts_the_tail(docs in rows(20), text in words(1..5), least in 0.0f32..1.0) {
        let corpus = corpus(docs);
        let query = Query {
            text: &text, vector: None, cosines: Cosines::default(), method: Method::Hybrid, filter: None, asked_at: day(50), zone: &Zone::utc(),
            as_of: None, memories_max: 50, messages_max: 50, score_min: 0.0,
        };
        let all = corpus.search(&query);
        let some = corpus.search(&Query { score_min: least, ..query });
        let kept = all.messages.iter().filter(|hit| hit.score >= least).count();
        prop_assert_eq!(&all.messages[..kept], &some.messages[..]);
    }
}

#[test]
fn an_episode_that_no_longer_holds_comes_after_its_successor() {
    let told = |id: &str, time, text: &str| row(id, DocKind::Entry(EntryKind::Episode), time, text);
    let of = |fact: Doc, id: &str| Doc {
        parent: Some(episode(id)),
        ..fact
    };
    let corpus = corpus([
        told(
            "e1",
            day(1),
            "Ann said that she lives in Lisbon and where she lives is sunny",
        ),
        of(fact("f1", day(1), "Ann lives in Lisbon"), "e1"),
        told("e2", day(9), "Ann talked about boxes"),
        Doc {
            supersedes: vec![EntryId::new("f1")],
            ..of(fact("f2", day(9), "Ann moved to Porto"), "e2")
        },
    ]);
    assert_eq!(
        ids(&ask("where does Ann live").of(&corpus).memories),
        ["e2", "e1"]
    );
}
