//! Episodes: golden ones.

use std::sync::Arc;

use expect_test::{Expect, expect};
use model::{Content, Zone};

use super::{calling, cell, talk};
use crate::episode;

fn check(lines: &str, expect: &Expect) {
    let told = episode(&cell(talk(lines)), &Zone::utc());
    expect.assert_eq(&format!(
        "# {}\n{}\n---\n{}\n",
        told.subject, told.summary, told.body
    ));
}

#[test]
fn an_episode_of_two_friends() {
    check(
        "alice: Hey Bob! Long time no see. How are you?
         bob: Hi Alice! I'm great, thanks.
         alice: I went to a pottery workshop yesterday and made a blue bowl for my sister.
         bob: Wow, that's amazing! I've been busy: our daughter Nina started school last week.
         alice: Aww, so sweet!
         bob: She loves her teacher, Mrs. Ortiz. We are going camping in Yosemite next month.
         alice: Have fun! Bye!",
        &expect![[r#"
            # Alice: I went to a pottery workshop yesterday and made a blue bowl for my sister
            Alice: I went to a pottery workshop yesterday and made a blue bowl for my sister. Bob: I've been busy: our daughter Nina started school last week. We are going camping in Yosemite next month.
            ---
            On 8 May 2023, Alice said: I went to a pottery workshop yesterday and made a blue bowl for my sister.
            Bob said: I've been busy: our daughter Nina started school last week.
            Bob said: She loves her teacher, Mrs. Ortiz. We are going camping in Yosemite next month.
        "#]],
    );
}

#[test]
fn an_episode_of_an_agent_with_tools() {
    let mut messages = talk(
        "alice: Please find the cheapest flight from Porto to Oslo on 3 June.
         bot: I'll look that up.
         tool: {\"flights\":[{\"airline\":\"TAP\",\"price\":189},{\"airline\":\"SAS\",\"price\":240}]} and a very long tail of more output that nobody wants to read twice in a memory
         bot: The cheapest flight from Porto to Oslo on 3 June is with TAP for 189 euros.
         alice: Book it, and use my aisle seat preference.",
    );
    let Content::Text(offer) = Arc::make_mut(&mut messages[3].content) else {
        panic!("a text");
    };
    offer.push_str("\n```json\n{}\n```");
    messages[1] = calling(messages[1].clone(), "c1");
    let told = episode(&cell(messages), &Zone::utc());
    expect![[r##"
        # Please find the cheapest flight from Porto to Oslo on 3 June
        Alice: Please find the cheapest flight from Porto to Oslo on 3 June. Bot: The cheapest flight from Porto to Oslo on 3 June is with TAP for 189 euros. Alice: Book it, and use my aisle seat preference.
        ---
        On 8 May 2023, Alice said: Please find the cheapest flight from Porto to Oslo on 3 June.
        Bot said: I'll look that up.
        Bot used search.
        A tool answered: {"flights":[{"airline":"TAP","price":189},{"airline":"SAS","price":240}]} and a very long tail of more output that…
        Bot said: The cheapest flight from Porto to Oslo on 3 June is with TAP for 189 euros. [code]
        Alice said: Book it, and use my aisle seat preference.
    "##]].assert_eq(&format!(
        "# {}\n{}\n---\n{}\n",
        told.subject, told.summary, told.body
    ));
}

#[test]
fn an_episode_in_another_script() {
    check(
        "alice: 你好！
         bob: 你好，最近怎么样？
         alice: 我上个月搬到里斯本了，在一家小公司做设计师。
         bob: 太好了！",
        &expect![[r#"
            # Bob: 你好，最近怎么样？
            Bob: 你好，最近怎么样？ Alice: 我上个月搬到里斯本了，在一家小公司做设计师。
            ---
            On 8 May 2023, Bob said: 你好，最近怎么样？
            Alice said: 我上个月搬到里斯本了，在一家小公司做设计师。
        "#]],
    );
}

#[test]
fn the_title_is_the_first_sentence_that_a_person_said() {
    let subject = |lines: &str| episode(&cell(talk(lines)), &Zone::utc()).subject;
    let long = "I could have swum to Denmark in the end, so long was that summer with Ida and her brother.";
    for (lines, expected) in [
        (
            "alice: Hey Bob! I moved to Porto. It is warm here.
             bob: Wow!",
            "Alice: I moved to Porto",
        ),
        (
            "alice: Hi!
             alice: How do I turn pictures into JPG on Linux? I have thirty of them.
             bot: With a converter.",
            "How do I turn pictures into JPG on Linux?",
        ),
        (
            "bot: I know the trams of Lisbon.
             alice: I live in Lisbon now!",
            "I live in Lisbon now!",
        ),
        (
            "bot: The backup of the server is complete.",
            "The backup of the server is complete",
        ),
        (
            "alice: <memory>I live in Rome.</memory>
             alice: > The trams of Lisbon are yellow.
             alice: They are red in Porto.",
            "They are red in Porto",
        ),
        (
            &format!("alice: {long}"),
            "I could have swum to Denmark in the end, so long was that summer with Ida and…",
        ),
    ] {
        assert_eq!(subject(lines), expected);
    }
}

#[test]
fn an_episode_of_greetings_only() {
    check(
        "alice: Hi!\nbob: Hello :)\nalice: Bye!",
        &expect![[r#"
        # Hi!
        Hi!
        ---
        On 8 May 2023, Alice said: Hi!
    "#]],
    );
}

#[test]
fn an_episode_of_empty_messages() {
    check(
        "alice:\nbob:",
        &expect![[r#"
            # Messages without text from Alice, Bob
            Messages without text from Alice, Bob.
            ---
            On 8 May 2023, there were messages without text from Alice, Bob.
        "#]],
    );
    check(
        "alice: <private>my diagnosis</private>",
        &expect![[r#"
            # Messages without text from Alice
            Messages without text from Alice.
            ---
            On 8 May 2023, there were messages without text from Alice.
        "#]],
    );
}

#[test]
fn a_summary_begins_with_its_writers_own_words() {
    let summary = |lines: &str| episode(&cell(talk(lines)), &Zone::utc()).summary;
    let played = summary(
        "alice: You are the keeper of the lighthouse and I am Captain Bligh.
         bot: Welcome, captain!
         alice: I lost my left eye at sea and my wife Isabella is buried in Cadiz.",
    );
    assert!(
        !played.contains("Isabella") && played.contains("keeper"),
        "{played}"
    );
    let quoted = summary(
        "alice: Polish this for my brother: \"I am a civil engineer. I live in Lagos and I speak Yoruba.\"
         bot: Done.
         alice: My own French is rubbish, I only took it for two years.",
    );
    assert!(
        !quoted.contains("Alice: I am a civil engineer") && !quoted.contains("Yoruba"),
        "{quoted}"
    );
    assert!(quoted.contains("French"), "{quoted}");
}
