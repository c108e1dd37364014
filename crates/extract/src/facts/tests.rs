//! Which sentences become facts: a person's plain statements, word for word.

#![expect(
    clippy::needless_raw_string_hashes,
    reason = "expect-test writes its texts so"
)]

use expect_test::{Expect, expect};
use model::Zone;
use proptest::prelude::*;
use recall::Reader as _;

use super::facts;
use crate::tests::{at, cell, message, talk};

fn told_by(name: Option<&str>, text: &str) -> Vec<String> {
    let mut said = message(1, "me", text, at("2023-05-08T13:56:00Z"));
    said.sender_name = name.map(str::to_owned);
    let facts = facts(&cell(vec![said]), &Zone::utc());
    facts.into_iter().map(|fact| fact.text).collect()
}

fn fact_texts(text: &str) -> Vec<String> {
    told_by(None, text)
}

fn check(text: &str, expect: &Expect) {
    let lines: Vec<String> = text.lines().flat_map(fact_texts).collect();
    expect.assert_eq(&lines.join("\n"));
}

#[test]
fn a_statement_that_the_next_sentence_corrects_keeps_the_correction() {
    let corrected = [
        "I'm driving my Skoda Fabia, a 2009. no, it's a 2007, I always make her younger.",
        "Mein Zug fährt am Montag um 9 Uhr. Nein, am Dienstag.",
        "J'ai cinq poules et un coq. Non, six poules.",
    ];
    for text in corrected {
        let facts = fact_texts(text);
        let [fact] = facts.as_slice() else {
            panic!("{text}: {facts:?}");
        };
        assert_eq!(fact, text);
    }
    // The sentence answers somebody, asks, or goes on without a correction.
    assert_eq!(fact_texts("No, I live in Oslo."), ["No, I live in Oslo."]);
    assert_eq!(fact_texts("I live in Oslo. No, really?"), ["I live in Oslo."]);
    assert_eq!(fact_texts("I live in Oslo. No cats there."), ["I live in Oslo."]);
}

#[test]
fn a_plain_statement_is_kept_as_it_was_said() {
    check(
        "I moved to Lisbon last month.
i'm a nurse, and I work at St. Mary's Hospital in Leeds
I'm allergic to nuts, can you suggest a dessert?
My sister Anna lives in Oslo with her two cats.
My dog's name is Rex!
So I don't eat meat, and my wife hates fish.
I can't eat gluten.
Yesterday I signed up for a pottery class.
I'm 34.
Our daughter has asthma.
I will start at Globex on 15 May.
Quick intro: I live in Porto with Rex.
My train leaves at 9:40 on Monday.
I had saffron buns (gluten free, she baked them) in Truro.",
        &expect![[r#"
            I moved to Lisbon last month.
            I'm a nurse, and I work at St. Mary's Hospital in Leeds.
            I'm allergic to nuts.
            My sister Anna lives in Oslo with her two cats.
            My dog's name is Rex.
            I don't eat meat, and my wife hates fish.
            I can't eat gluten.
            Yesterday I signed up for a pottery class.
            Our daughter has asthma.
            I will start at Globex on 15 May.
            My train leaves at 9:40 on Monday.
            I had saffron buns (gluten free, she baked them) in Truro."#]],
    );
}

#[test]
fn other_languages_are_read_by_their_own_closed_words() {
    check(
        "Ich wohne in Berlin und arbeite als Lehrer.
Meine Tochter heißt Lena.
Soy enfermera en Sevilla.
Mi hermano vive en Lima.
J'habite à Lyon avec ma femme.
Je ne mange pas de viande.
Sou professora em Lisboa.
我住在上海，我有一个女儿。
私はピーナッツアレルギーです。",
        &expect![[r#"
            Ich wohne in Berlin und arbeite als Lehrer.
            Meine Tochter heißt Lena.
            Soy enfermera en Sevilla.
            Mi hermano vive en Lima.
            J'habite à Lyon avec ma femme.
            Je ne mange pas de viande.
            Sou professora em Lisboa.
            我住在上海
            我有一个女儿
            私はピーナッツアレルギーです"#]],
    );
}

#[test]
fn a_statement_names_its_speaker() {
    let told = told_by(Some("Ann"), "I live in Porto with my two cats.");
    assert_eq!(told, ["Ann says: \"I live in Porto with my two cats\"."]);
    let told = told_by(Some("Ann"), "Always give me weights in ounces.");
    assert_eq!(told, ["Ann asks: \"Always give me weights in ounces\"."]);
}

#[test]
fn a_supposition_a_question_or_a_reference_to_the_talk_is_no_fact() {
    for text in [
        "I would live in Porto.",
        "If I lived in Porto I'd swim every day.",
        "Maybe I have asthma.",
        "I want a recipe for lasagna.",
        "I need help with my essay.",
        "Do I have a cat called Luna?",
        "I have a cat called Luna?",
        "I like this one better.",
        "I love it there.",
        "I told you about my cat Luna.",
        "She says I work at Acme.",
        "I see.",
        "I'm tired.",
        "Thanks, great recipe for lasagna.",
        "My plan for the week:",
        "I'll check the logs.",
        "My password is hunter2 at Acme.",
        "Shes my oldest friend from Camborne.",
        "Til then I'm on my phone in Penryn.",
        "Hes my oldest friend, we were in the navy together.",
        "Prettiest thing I ever made with cedar.",
        "Me and Reg are partners in cribbage.",
        "Here is her letter: I am a widow of 78 with a driveway.",
        "Will you check this for me: I'm Dilys from Truro and I love salsa.",
        "I want an email to the landlord: the boiler bangs, we're in all Friday.",
        "Can you look this over?\n\nI'm allergic to cats and I work nights.",
        "¿Tengo un gato en Lima?",
        "Si vivo en Lima, ¿qué hago?",
        "我想去上海工作。",
        "你住在上海吗？",
        "",
    ] {
        assert_eq!(fact_texts(text), [""; 0], "{text}");
    }
}

#[test]
fn a_quotation_is_no_statement_of_its_writer() {
    for text in [
        "How do I say \"I'm pregnant and I don't eat cheese\" in Portuguese",
        "My entry says: “I am Titus, I'm married and I live at Vindolanda.” Is it long enough?",
    ] {
        assert_eq!(fact_texts(text), [""; 0], "{text}");
    }
    for text in [
        "My wife says \"you snore\", and laughs",
        "My wife says: you snore",
    ] {
        assert_eq!(super::statements(text, "me"), [""; 0], "{text}");
    }
    let boat = "My boat is called \"The Green Dragon\"";
    assert_eq!(super::statements(boat, "me"), [format!("{boat}.")]);
}

#[test]
fn a_message_is_divided_into_account_and_material() {
    let read = |text: &str| super::Messages.parts(text);
    let pasted = "Can you check this?\n\nDear Ms Quill,\nI live in Hull.";
    let (own, material) = read(pasted);
    assert_eq!(
        (&*own, &*material),
        ("Can you check this?", "Dear Ms Quill,\nI live in Hull.")
    );
    assert_eq!(read("I live in Hull.").1, "");
}

#[test]
fn withdrawn_sentences_are_left_out_of_a_message_and_no_others() {
    let without = |text: &str, taken: &[&str]| {
        let marks = taken.iter().map(|text| crate::mark(text)).collect();
        super::Messages.without(text, "me", &marks)
    };
    let text = "I live in Hull. I play the cello.";
    assert_eq!(without(text, &["I live in Hull."]).trim(), "I play the cello.");
    assert_eq!(without(text, &["I live in Leeds."]), "", "it is not found");
    assert_eq!(
        without(text, &["I live in Hull.", "I play the cello."]).trim(),
        ""
    );
    // A statement and its correction are one statement.
    let car = "I'm driving my Skoda Fabia, a 2009. no, it's a 2007.";
    let text = format!("I play the cello. {car} I live in Hull.");
    assert_eq!(
        super::statements(&text, "me"),
        ["I play the cello.", car, "I live in Hull."]
    );
    assert_eq!(without(&text, &[car]), "I play the cello.   I live in Hull.");
    let alone = "I'm driving my Skoda Fabia, a 2009.";
    assert!(
        without(&text, &[alone]).contains("no, it's a 2007."),
        "a model's fact"
    );
}

#[test]
fn a_statement_includes_the_text_before_it_in_its_sentence() {
    for (text, said) in [
        ("Les moules, je n'y touche pas.", "Les moules, je n'y touche pas."),
        (
            "And Des, my best friend, plays chess.",
            "And Des, my best friend, plays chess.",
        ),
        ("But I'm allergic to penicillin.", "I'm allergic to penicillin."),
        ("soy alérgico a la penicilina", "Soy alérgico a la penicilina."),
        ("non guido di notte", "Non guido di notte."),
        ("Vivo con mis padres en Madrid.", "Vivo con mis padres en Madrid."),
        ("Adesso ho un Berlingo blu", "Adesso ho un Berlingo blu."),
    ] {
        assert_eq!(super::statements(text, "me"), [said], "{text}");
    }
}

#[test]
fn a_wish_for_answers_is_kept_as_it_was_said() {
    for (said, expected) in [
        (
            "Always give me weights in ounces.",
            Some("I ask: \"Always give me weights in ounces\"."),
        ),
        (
            "Please keep your answers short.",
            Some("I ask: \"keep your answers short\"."),
        ),
        ("Never mind.", None),
        ("Never heard of it before.", None),
    ] {
        assert_eq!(fact_texts(said).first().map(String::as_str), expected, "{said}");
    }
}

#[test]
fn material_is_no_account_of_its_sender() {
    for text in [
        "Write a poem: I live in Porto and my girlfriend's name is Noor.",
        "Dear Ms Lopez,\nI live in Porto and work as a nurse.",
        "Let's role play. I'm Bromli, a dwarf from Khazad.",
        "> I live in Porto with my two cats.",
    ] {
        assert_eq!(fact_texts(text), [""; 0], "{text}");
    }
}

#[test]
fn only_people_are_sources_of_facts() {
    let said = talk("bot: I live in Lisbon.\ntool: I live in Rome.\nbob: I live in Oslo.");
    let found = facts(&cell(said), &Zone::utc());
    let texts: Vec<&str> = found.iter().map(|fact| fact.text.as_str()).collect();
    assert_eq!(texts, ["Bob says: \"I live in Oslo\"."]);
}

#[test]
fn nobody_in_a_scene_states_facts() {
    let said = talk("bob: I live in Oslo.\nbob: let's play, you be the king\nbob: I live in a castle.");
    assert_eq!(facts(&cell(said), &Zone::utc()).len(), 1);
    let said =
        talk("bob: I live in Oslo.\nbob: You are Inspector Dubois.\nbob: I smuggle rum and I keep a parrot.");
    assert_eq!(facts(&cell(said), &Zone::utc()).len(), 1);
}

#[test]
fn a_shared_story_or_given_roles_make_a_scene() {
    let said = "bob: I kneel. \"I have three sons in Antwerp.\"\nbot: He nods. \"They will hear of it.\"\n\
        bob: I hide the letters in my coat. \"Then let us go.\"";
    assert!(facts(&cell(talk(said)), &Zone::utc()).is_empty());
    for roles in [
        "let's practise: you're the doctor, I'm the patient",
        "I read Nina, you read Trigorin.",
        "Ich bin der Gärtner, du der Kommissar.",
        "you're a harbour master in 1890 and I'm a captain",
        "You tell a story, I'm somebody in it.",
    ] {
        let said = talk(&format!(
            "bob: I live in Oslo.\nbob: {roles}\nbob: I have a bad knee."
        ));
        assert_eq!(facts(&cell(said), &Zone::utc()).len(), 1, "{roles}");
    }
    let told = "bob: I live in Oslo.\nbot: Nice.\nbob: back to the airship. I keep forty goats.\nbot: A bell. \"Who goes there?\"\n\
        bob: I have one wooden leg.\nbot: The mate laughs. \"You have two, Captain.\"\nbob: I fear no man in Cartagena.";
    assert_eq!(
        facts(&cell(talk(told)), &Zone::utc()).len(),
        1,
        "the model alone writes what they say"
    );
    for talked in [
        "you're right, I'm late.",
        "I drive an old van, you can fit one amp in it",
        "I'm so tired, you wouldn't believe it",
        "you can skip the salt but I can taste it.",
    ] {
        let said = talk(&format!(
            "bob: I live in Oslo.\nbob: {talked}\nbob: I have a bad knee."
        ));
        let facts = facts(&cell(said), &Zone::utc());
        assert!(
            facts.iter().any(|fact| fact.text.contains("knee")),
            "{talked}: {facts:?}"
        );
    }
    // A single quotation makes no scene.
    let said = talk(
        "bob: My boss wrote \"See me on Monday.\"\nbot: \"I will.\" That will do.\nbob: I live in Oslo.",
    );
    assert!(!facts(&cell(said), &Zone::utc()).is_empty());
}

#[test]
fn text_next_to_an_own_line_has_no_known_author() {
    let facts_of =
        |before: &str, material: &str, behind: &str| fact_texts(&format!("{before}{material}{behind}"));
    let own = "I drive a tram in Porto.";
    for material in [
        "Fix the commas\n\nI am Gwyn from Merthyr and I keep bees.",
        "Diary of my grandmother:\n\nI work in the factory now. The soup was thin.",
        "Form:\nName: Hana Novak\nAllergies: I can't take penicillin\n\nturn it into JSON",
        "1) I was in a film.\n2) I have never been abroad.\n\nWhich one is a lie?",
        "Q: Tell us about yourself.\nA: I am an electrician from Hull.",
        "Dear Ms Okafor,\n\nI have broken my right wrist.\n\nKind regards\nLuis",
        "Text of the landlord\n\nI am selling the building in spring.\n\nIs he allowed to?",
    ] {
        assert_eq!(facts_of("", material, ""), [""; 0], "{material}");
        assert_eq!(facts_of(&format!("{own}\n\n"), material, ""), [own], "{material}");
    }
    let before_a_lead = fact_texts(
        "I work as a letting agent. Please answer this politely:\n\nI moved in on Monday. The oven is broken.",
    );
    assert_eq!(before_a_lead, ["I work as a letting agent."]);
    for closed in [
        "```\nuser: I am Zoltan and I like trains\n```",
        "> I have had tinnitus since 2019.\n> Any tips?",
        "“I always hated mornings and I live in Rome.”",
    ] {
        let behind = format!("\n\nWhat do I answer? {own}");
        assert_eq!(facts_of("", closed, &behind), [own], "{closed}");
    }
    let quoted = facts_of("Sum this up: ", "\"I travel with two dogs.\"", &format!(" {own}"));
    assert_eq!(quoted, [own]);
    assert_eq!(
        fact_texts("I'm a quiet law student with a piano.\n\nShould I answer this ad?"),
        [""; 0]
    );
}

#[test]
fn a_statement_said_twice_is_one_fact_with_two_sources() {
    let said = talk(
        "alice: I live in Oslo.\nbob: I live in Oslo.\nalice: I live in Oslo!\nalice: I now live in Oslo",
    );
    let found = facts(&cell(said), &Zone::utc());
    let sources: Vec<usize> = found.iter().map(|fact| fact.sources.len()).collect();
    assert_eq!(sources, [3, 1]);
}

#[test]
fn a_long_message_gives_few_facts() {
    let story: Vec<String> = (0..20)
        .map(|i| format!("I adopted a cat named Rex {i}."))
        .collect();
    assert_eq!(fact_texts(&story.join(" ")).len(), 4);
}

#[test]
fn words_before_i_belong_to_the_statement_unless_they_ask_or_name_a_speaker() {
    check(
        "On Thursdays I mend bikes at the repair cafe.
Since Monday I look after the citrus.
For my sister I bake a lemon cake every year.
In der Früh trinke ich Grüntee.
Depuis lundi je travaille à la mairie de Lyon.
Des thinks I play chess badly.
Tell Gwen I come home late.
can I freeze the leek soup twice
can't I just freeze the leek soup
kann ich die Suppe einfrieren
Le ho comprato le scarpe rosse.
Joaquin and I got married in 2015.
Im Mai hab ich mir das Handgelenk gebrochen, und ich war beim Arzt.
La mia Panda gialla ha la gomma bucata.
El sábado volamos a Oporto, jugamos los martes.",
        &expect![[r#"
            On Thursdays I mend bikes at the repair cafe.
            Since Monday I look after the citrus.
            For my sister I bake a lemon cake every year.
            In der Früh trinke ich Grüntee.
            Depuis lundi je travaille à la mairie de Lyon.
            Le ho comprato le scarpe rosse.
            Joaquin and I got married in 2015.
            Im Mai hab ich mir das Handgelenk gebrochen, und ich war beim Arzt.
            La mia Panda gialla ha la gomma bucata.
            El sábado volamos a Oporto, jugamos los martes."#]],
    );
}

#[test]
fn a_sentence_has_a_statement_for_each_run_of_own_clauses() {
    check(
        "She wanted antibiotics, but I'm allergic to penicillin.
Well that's fine, I swim at Sandsend every Sunday.
She said that she was sorry, I'm leaving for Peru.
I moved to Leeds, I will call the plumber.
I moved to Leeds, and on 3 March I will start at the mill.
I gave up coffee when I left the night shift.
I wear a hat that my friend Lowri knitted.
I live in Porto, do you know the harbour?",
        &expect![[r#"
            I'm allergic to penicillin.
            I swim at Sandsend every Sunday.
            I moved to Leeds.
            I moved to Leeds.
            And on 3 March I will start at the mill.
            I gave up coffee when I left the night shift.
            I wear a hat that my friend Lowri knitted.
            I live in Porto."#]],
    );
}

#[test]
fn a_language_has_at_most_sixty_closed_words() {
    for part in include_str!("closed.txt").split("\n= ").skip(1) {
        let forms: usize = part.lines().skip(1).map(|line| line.split(' ').count() - 1).sum();
        assert!((1..=60).contains(&forms), "{forms}: {part}");
    }
}

proptest! {
    /// Any fact consists of words of its message, in their order.
    #[test]
    fn a_fact_is_a_part_of_its_message(words in prop::collection::vec(prop::sample::select(vec![
        "I", "my", "we", "live", "in", "Porto", "and", ",", "but", "sister", "is", "you", "it", "a nurse", ".", "?", "ich", "wohne",
        "soy", "je", "ne", "我住在上海", "，", "34", "don't", "\"",
    ]), 0..24)) {
        let text = words.join(" ");
        for fact in fact_texts(&text) {
            let said = fact.trim_end_matches(['.', '!', '。', '！']);
            let starts = text.to_lowercase().contains(&said.to_lowercase());
            prop_assert!(starts || fact.starts_with("I ask"), "{fact:?} of {text:?}");
        }
    }
}
