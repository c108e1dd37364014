//! What becomes a fact, in which words, and what does not.

#![expect(
    clippy::needless_raw_string_hashes,
    reason = "expect-test writes its texts so"
)]

mod said;

use expect_test::{Expect, expect};
use model::Zone;

use super::facts;
use crate::tests::{at, cell, message, talk};

fn told(text: &str) -> Vec<String> {
    let said = message(1, "alice", text, at("2023-05-08T13:56:00Z"));
    facts(&cell(vec![said]), &Zone::utc())
        .into_iter()
        .map(|fact| fact.text)
        .collect()
}

fn check(text: &str, expect: &Expect) {
    let lines: Vec<String> = text.lines().flat_map(told).collect();
    expect.assert_eq(&lines.join("\n"));
}

#[test]
fn one_without_a_name_is_told_in_the_first_person() {
    for (said, told) in [
        ("I'm allergic to nuts.", "I am allergic to nuts."),
        ("My wife is called Eva.", "My wife is called Eva."),
        (
            "we moved to Lisbon with our two cats last month",
            "I moved to Lisbon with my two cats",
        ),
        (
            "I've been working at Acme since 2019.",
            "I have been working at Acme since 2019.",
        ),
        ("We have two dogs.", "I have two dogs."),
        (
            "I have an interview in Leeds on Thursday.",
            "I have an interview in Leeds on Thursday (11 May 2023).",
        ),
        ("I don't eat meat.", "I don't eat meat."),
    ] {
        let mut said = message(1, "me", said, at("2023-05-08T13:56:00Z"));
        said.sender_name = None;
        let facts = facts(&cell(vec![said]), &Zone::utc());
        let texts: Vec<&str> = facts.iter().map(|fact| &*fact.text).collect();
        assert!(
            texts.iter().any(|text| text.starts_with(told)),
            "{told}: {texts:?}"
        );
    }
}

#[test]
fn work_and_home() {
    check(
        "I moved to Lisbon last month.
I'm a nurse, and I work at St. Mary's Hospital in Leeds.
We live in a small flat with our two cats.
I've been working at Acme since 2019.
I grew up in Sweden.
I quit my job on Friday.
Just got promoted to team lead!
By the way, I start my new job at Globex next Monday.
I used to live in Prague.
I don't eat meat.
I can't eat gluten.
I speak French and Spanish.
Last week, I signed up for a pottery class.
In 2019 I ran the Boston Marathon.
My name is Alice and I'm 34.",
        &expect![[r#"
            Alice moved to Lisbon last month (April 2023).
            Alice is a nurse.
            Alice works at St. Mary's Hospital in Leeds.
            Alice lives in a small flat with their two cats.
            Alice has been working at Acme since 2019.
            Alice grew up in Sweden.
            Alice quit their job on Friday.
            Alice got promoted to team lead.
            Alice starts their new job at Globex next Monday (15 May 2023).
            Alice used to live in Prague.
            Alice doesn't eat meat.
            Alice can't eat gluten.
            Alice speaks French and Spanish.
            Alice signed up for a pottery class last week (1 to 7 May 2023).
            Alice ran the Boston Marathon in 2019.
            Alice is 34."#]],
    );
}

#[test]
fn people_and_things() {
    check(
        "My sister Anna lives in Oslo.
My dog's name is Rex!
My favourite food is sushi.
Our daughter started school yesterday.
My phone number is +44 20 7946 0000.
My landlord raised our rent to $1,050.
I have a dog named Rex and a cat named Luna.
I bought a red bike two weeks ago.
The launch has been moved to Friday.
I love hiking and I play the violin.
I prefer window seats.
I'm allergic to peanuts.
I'm reading \"Charlotte's Web\" to my kids.
I went to an LGBTQ support group yesterday and it was so powerful.",
        &expect![[r#"
            Alice's sister Anna lives in Oslo.
            Alice's dog's name is Rex.
            Alice's favourite food is sushi.
            Alice's daughter started school yesterday (7 May 2023).
            Alice's phone number is +44 20 7946 0000.
            Alice's rent was raised to $1,050.
            Alice has a dog named Rex and a cat named Luna.
            Alice bought a red bike two weeks ago (about 24 April 2023).
            The launch has been moved to Friday (12 May 2023).
            Alice loves hiking.
            Alice plays the violin.
            Alice prefers window seats.
            Alice is allergic to peanuts.
            Alice is reading "Charlotte's Web" to their kids.
            Alice went to an LGBTQ support group yesterday (7 May 2023)."#]],
    );
}

#[test]
fn what_is_not_a_fact() {
    for text in [
        "Hi there!",
        "Do I live in Lisbon?",
        "If I move to Lisbon, I will learn Portuguese.",
        "I might move to Lisbon.",
        "I'd love to visit Japan.",
        "I would like a summary of this file.",
        "I wish I had a dog.",
        "I think I live in the best city.",
        "She said I live in Lisbon.",
        "My doctor told me I have asthma.",
        "He told me \"I moved to Lisbon\".",
        "I love your new haircut.",
        "I love it!",
        "I like that.",
        "I'm so glad to hear that.",
        "I'm sorry.",
        "I'm not sure.",
        "I'm fine, thanks.",
        "I have a question.",
        "I have a function that parses JSON.",
        "I got an error in my code.",
        "I get the following error.",
        "I need help with my homework.",
        "I want you to act as a pirate.",
        "I don't know.",
        "I can't wait!",
        "I see what you mean.",
        "I made it.",
        "I had a great time.",
        "I'll let you know.",
        "I'll try that.",
        "My question is about Rust.",
        "My bad.",
        "My password is hunter2.",
        "My API token is abc123.",
        "Act as a person who lives in Lisbon.",
        "Write a story where I live in Lisbon.",
        "When I lived in Lisbon, things were easier.",
        "Imagine I live in Lisbon.",
        "> I live in Lisbon.",
        "<memory>I live in Lisbon.</memory>",
        "<private>I live in Lisbon.</private>",
        "```\nI live in Lisbon.\n```",
        "The model is trained on data.",
        "You live in Lisbon.",
        "What I love is unclear.",
        "I do.",
        "Thanks, I appreciate it a lot.",
        "I tried it again.",
        "I use it.",
        "I keep getting this error.",
    ] {
        assert_eq!(told(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_is_not_understood_alone_is_no_fact() {
    for text in [
        "I'm a huge fan of this genre.",
        "I've been working on this for months.",
        "I tried one last week.",
        "We come to sit here sometimes.",
        "I've made such great friends through it.",
        "I'd taken them out for a run, and I take them every day.",
        "I loved spending time with him.",
        "I'm passionate about it.",
        "I go there now and then.",
        "I used to have a dog with that name.",
        "I had a great turnout.",
        "I got some possible leads.",
        "I have a few plans.",
        "I'm staying positive and pushing forward.",
        "I go a few times a week.",
        "I was playing a game.",
        "I'm reading a book that I really like.",
        "I have so much to figure out.",
        "I just finished something.",
        "My dogs are so cute.",
        "My favourite was when they sang.",
        "We make a great team.",
        "I won't quit, no matter what.",
        "I've been playing for about four months now and it's been amazing.",
    ] {
        assert_eq!(told(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_is_understood_alone_stays_as_far_as_it_is() {
    check(
        "I'm reading a book called \"Sapiens\" - it's a look at human history.
I run every morning.
I love hiking, but it's been ages.
We found this cosy café in the old town.
I have one brother.
I went to a concert in Boston in May, and you know what happened there, but that's a long story.
I have people who are there for me, like my aunt Ida.
I gave my sister a lamp and she loved it.
My wife and I bought a boat in May.
We went to a convention together last month.
I went camping in the mountains and those were stunning.",
        &expect![[r#"
            Alice is reading a book called "Sapiens".
            Alice runs every morning.
            Alice loves hiking.
            Alice has one brother.
            Alice went to a concert in Boston in May 2023.
            Alice has an aunt called Ida.
            Alice bought a boat in May 2023 with their wife.
            Alice went to a convention last month (April 2023)."#]],
    );
}

#[test]
fn a_friend_would_remember_it() {
    check(
        "My name is Alice Marin and I live in Porto with my husband Luis.
We have two kids, Ines who is 7 and Tomas who is 4.
My mum has Parkinson's, so I visit her every month.
We just adopted a greyhound called Brisa.
I play the cello in an amateur orchestra on Thursdays.
I'm training for the Porto marathon in November.
I broke my wrist in 2019 and it still hurts when it rains.
My best friend Marta is getting married in Lisbon on 12 September.
I can't eat gluten, I was diagnosed with coeliac disease two years ago.
My brother works for Siemens in Munich.
I'm learning German because we want to visit him.
My car is a 2015 Renault Clio.
I prefer tea to coffee.
I finished my master's degree in 2012 at the University of Coimbra.
My birthday is on 3 March.
I have a dentist appointment on Friday at 10.
My father died in 2020.
I've been seeing a therapist since the spring.
My daughter is afraid of dogs.
I used to work in Brussels.
I'm reading The Master and Margarita.
I have an older sister, Clara, who teaches maths.
I want to open my own practice one day.
I take levothyroxine for my thyroid.
I've been to Japan before.
I went to a pride parade last Friday and it was awesome - so much energy!
I take salsa classes on Tuesday evenings.",
        &expect![[r#"
            Alice's name is Alice Marin.
            Alice lives in Porto with their husband Luis.
            Alice has two kids, Ines who is 7 and Tomas who is 4.
            Alice's mum has Parkinson's.
            Alice adopted a greyhound called Brisa.
            Alice plays the cello in an amateur orchestra on Thursdays.
            Alice is training for the Porto marathon in November 2023.
            Alice broke their wrist in 2019.
            Alice's best friend Marta is getting married in Lisbon on 12 September 2023.
            Alice can't eat gluten.
            Alice was diagnosed with coeliac disease two years ago (2021).
            Alice's brother works for Siemens in Munich.
            Alice is learning German.
            Alice's car is a 2015 Renault Clio.
            Alice prefers tea to coffee.
            Alice finished their master's degree in 2012 at the University of Coimbra.
            Alice's birthday is on 3 March.
            Alice has a dentist appointment on Friday (12 May 2023) at 10.
            Alice's father died in 2020.
            Alice has been seeing a therapist since the spring (1 March to 31 May 2023).
            Alice's daughter is afraid of dogs.
            Alice used to work in Brussels.
            Alice is reading The Master and Margarita.
            Alice has an older sister, Clara.
            Alice wants to open their own practice one day.
            Alice takes levothyroxine for their thyroid.
            Alice has been to Japan.
            Alice went to a pride parade last Friday (5 May 2023).
            Alice takes salsa classes on Tuesday evenings."#]],
    );
}

#[test]
fn what_passes_is_no_fact() {
    for text in [
        "I've been experimenting with oat milk lately.",
        "I've been feeling stuck in my job for a while now.",
        "I just finished a great novel.",
        "I like the sound of the coastal colour scheme.",
        "I love seeing all the memes.",
        "I'm thinking of inviting Coach Rachel to a game.",
        "I'm considering the Michelin Pilot Sport 4S.",
        "I'm interested in learning more about the studio.",
        "I'm planning to make chicken fajitas again this weekend.",
        "I'm 2 episodes behind.",
        "I got a new bike helmet today.",
        "I donated a bunch of old clothes.",
        "I usually use the whisk attachment.",
        "I've been trying to work out 3 times a week.",
        "I have a team lunch every Wednesday.",
        "I lost my keys again.",
        "My budget is around $500.",
        "My favorite part of the trip was the drive.",
        "My brother is a bit anxious about the move.",
        "The kibble is about $50 a month.",
        "The party was last weekend.",
        "I don't have the old bills handy.",
        "I want to get a few more.",
    ] {
        assert_eq!(told(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn material_is_nobodys_account() {
    let pasted = "The chapter goes on and on. ".repeat(50);
    for text in [
        "Dear hiring manager,\nI live in Lisbon.\nSincerely, Ann",
        "Improve this:\n\"I live in Lisbon.\"",
        "{\"text\": \"I live in Lisbon.\"}",
        "| I live in Lisbon. |",
        &format!("I live in Lisbon. {pasted}"),
        &format!("Rewrite this. I live in Lisbon. {}", &pasted[..260]),
        "I live\nin\nseven\nlines\nof\nit\nI live in Lisbon.",
    ] {
        assert_eq!(told(text), Vec::<String>::new(), "{text}");
    }
    for text in [
        "You told me a story, my dear friend. I live in Lisbon.",
        "I love abstract art and I live in Lisbon.",
    ] {
        assert!(
            told(text).contains(&"Alice lives in Lisbon.".to_owned()),
            "{text}"
        );
    }
    assert_eq!(
        told("Write a poem about my girlfriend. My girlfriend's name is Noor."),
        ["Alice's girlfriend's name is Noor."]
    );
}

#[test]
fn whoever_speaks_in_a_scene_is_not_believed() {
    let said = talk("alice: Let's role-play: you are a dragon.\nalice: I live in Lisbon.");
    assert_eq!(facts(&cell(said), &Zone::utc()), []);
}

#[test]
fn a_date_is_written_out_where_the_clause_tells_its_side() {
    check(
        "And I left Lumen Studio; on 1 October I start at Atlantic Maps as head of design.
I left Lumen Studio, and on 1 October I start at Atlantic Maps.
On 27 September I climbed my first 7a.
Our wedding is on 3 June.
My next check-up is on Friday.
I met Tom on Friday.
I moved to Ghent in March.
I'm moving to Oslo in March.
We launch on 3 June 2024.",
        &expect![[r#"
            Alice left Lumen Studio.
            Alice starts at Atlantic Maps as head of design on 1 October 2023.
            Alice left Lumen Studio.
            Alice starts at Atlantic Maps on 1 October 2023.
            Alice climbed their first 7a on 27 September 2022.
            Alice's wedding is on 3 June 2023.
            Alice's next check-up is on Friday (12 May 2023).
            Alice met Tom on Friday (5 May 2023).
            Alice moved to Ghent in March 2023.
            Alice is moving to Oslo in March 2024."#]],
    );
}

#[test]
fn what_others_do_to_ones_things_is_told_of_the_things() {
    check(
        "They promoted me to senior analyst.
The airline moved our flight to Sunday.
We had to postpone the wedding, it's on 30 August 2024 now.
I repainted my car, it's green now.
The team meeting has been pushed to 11.
Orange has become my favourite colour.
Big news: we sold the boat.
Chicago is behind me, I live in Denver now.
They thanked me for coming.",
        &expect![[r#"
            Alice was promoted to senior analyst.
            Alice's flight was moved to Sunday (14 May 2023).
            Alice's wedding is on 30 August 2024 now.
            Alice's car is green now.
            The team meeting has been pushed to 11.
            Alice's favourite colour is orange.
            Alice sold the boat.
            Alice lives in Denver now."#]],
    );
}

#[test]
fn only_people_are_believed() {
    let said = talk("bot: I live in Lisbon.\ntool: I live in Rome.\nbob: I live in Oslo.");
    let found = facts(&cell(said), &Zone::utc());
    assert_eq!(
        found.iter().map(|fact| fact.text.as_str()).collect::<Vec<_>>(),
        ["Bob lives in Oslo."]
    );
}

#[test]
fn what_is_said_twice_is_one_fact_with_two_sources() {
    let said = talk(
        "alice: I live in Oslo.\nbob: I live in Oslo.\nalice: I live in Oslo!\nalice: I now live in Oslo",
    );
    let found = facts(&cell(said), &Zone::utc());
    let shown: Vec<String> = found
        .iter()
        .map(|fact| format!("{} {}", fact.text, fact.sources.len()))
        .collect();
    assert_eq!(shown, ["Alice lives in Oslo. 3", "Bob lives in Oslo. 1"]);
}

#[test]
fn a_past_date_is_since_when_it_holds() {
    let since = |text: &str| {
        let said = message(1, "alice", text, at("2023-05-08T13:56:00Z"));
        facts(&cell(vec![said]), &Zone::utc())[0]
            .valid_from
            .map(|at| at.to_string())
    };
    assert_eq!(
        since("I moved to Lisbon last month.").as_deref(),
        Some("2023-04-01T00:00:00Z")
    );
    assert_eq!(since("I am getting married in Lisbon next month."), None);
    assert_eq!(since("I live in Lisbon."), None);
}

#[test]
fn a_rambling_message_adds_little() {
    let story: Vec<String> = (0..20)
        .map(|i| format!("I adopted a cat named Rex {i}."))
        .collect();
    assert_eq!(told(&story.join(" ")).len(), 4);
}

#[test]
fn a_quotation_is_nobodys_statement() {
    for text in [
        "How do I say \"I'm pregnant and I don't eat cheese\" in Portuguese",
        "My entry says: “I am Titus, I'm married and I live at Vindolanda.” Is it long enough?",
    ] {
        assert_eq!(told(text), [""; 0], "{text}");
    }
    assert_eq!(told("My boat is called \"The Green Dragon\".").len(), 1);
}
