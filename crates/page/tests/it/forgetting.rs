//! Forgetting by words with a choice and a confirmation, and the import afterwards.

use std::time::Duration;

use crate::library::form as upload;
use crate::stage::Stage;

const WHO: &str = "who=default/default/ada";
const SAID: [(&str, &str); 3] = [
    ("ada", "I live in Lisbon."),
    ("ada", "Petra plays the violin in Porto."),
    ("ada", "Petra's birthday is on the third of May."),
];

/// The ids of the tick boxes that a preview shows.
fn shown_ids(html: &str) -> Vec<&str> {
    let fields = html.split("name=\"shown\" value=\"").skip(1);
    fields.filter_map(|rest| rest.split('"').next()).collect()
}

#[tokio::test]
async fn a_search_offers_to_forget_its_matches_and_each_match_can_be_kept() {
    let stage = Stage::new().await;
    stage.house.remember("talk", &SAID).await;
    let results = stage.html(&format!("/page/memories?{WHO}&q=Petra")).await;
    let link = "&#38;words=Petra\">Forget everything with these words</a>";
    assert!(
        results.contains(link) || results.contains(&link.replace("&#38;", "&amp;")),
        "{results}"
    );
    let path = format!("/page/forget?{WHO}");
    let choice = stage.html(&format!("{path}&words=Petra")).await;
    assert!(
        choice.contains("Petra plays the violin") && !choice.contains("Without these messages"),
        "{choice}"
    );
    let (_, next) = choice.split_once("Next to them, kept").expect("what is beside");
    assert!(next.contains("I live in Lisbon. <small>"), "{choice}");
    assert!(
        !choice.contains("Forget for good"),
        "a choice is no confirmation: {choice}"
    );
    // No row about the birthday will be deleted.
    let rows: Vec<&str> = choice
        .split("<li>")
        .filter(|row| row.contains("birthday"))
        .collect();
    let kept: Vec<&str> = rows.iter().flat_map(|row| shown_ids(row)).collect();
    assert!(!kept.is_empty(), "{choice}");
    let mut fields = vec![("words", "Petra")];
    for id in shown_ids(&choice) {
        fields.push(("shown", id));
        if !kept.contains(&id) {
            fields.push(("goes", id));
        }
    }
    let sure = stage.submit(&path, &fields).await.text;
    assert!(
        sure.contains("Forget for good")
            && sure.contains("Without these messages")
            && !sure.contains("type=\"checkbox\""),
        "{sure}"
    );
    assert!(
        sure.contains("violin") && !sure.contains("birthday is on the third of May. <small>"),
        "{sure}"
    );
    assert!(
        stage
            .html(&format!("/page/memories?{WHO}&q=violin"))
            .await
            .contains("violin in Porto")
    );
    let mut fields = vec![("words", "Petra"), ("sure", "1")];
    fields.extend(kept.iter().map(|id| ("keep", *id)));
    let gone = stage.submit(&path, &fields).await.text;
    assert!(gone.contains("Quipu forgot everything with “Petra”"), "{gone}");
    let left = stage.html(&format!("/page/forget?{WHO}&words=Petra")).await;
    assert!(left.contains("birthday") && !left.contains("violin"), "{left}");
    let none = stage.html(&format!("/page/forget?{WHO}&words=violin")).await;
    assert!(none.contains("There is nothing to forget"), "{none}");
}

#[tokio::test]
async fn a_ticked_message_next_to_a_match_is_deleted_too() {
    let stage = Stage::new().await;
    stage.house.remember("talk", &SAID).await;
    let path = format!("/page/forget?{WHO}");
    let choice = stage.html(&format!("{path}&words=Petra")).await;
    let (ticked, next) = choice.split_once("Next to them, kept").expect("what is beside");
    let box_of = |html: &str| {
        let (_, rest) = html.split_once("name=\"goes\" value=\"").expect("a tick box");
        rest.split('"').next().expect("an id").to_owned()
    };
    let next = box_of(next);
    assert!(!ticked.contains(&next) && !shown_ids(&choice).contains(&&*next));
    let mut fields = vec![("words", "Petra"), ("goes", &*next)];
    for id in shown_ids(&choice) {
        fields.extend([("shown", id), ("goes", id)]);
    }
    let sure = stage.submit(&path, &fields).await.text;
    let also = format!("name=\"also\" value=\"{next}\"");
    assert!(
        sure.contains(&also) && sure.contains("I live in Lisbon. <small>"),
        "{sure}"
    );
    let fields = [("words", "Petra"), ("also", &*next), ("sure", "1")];
    let gone = stage.submit(&path, &fields).await.text;
    assert!(gone.contains("Quipu forgot everything with “Petra”"), "{gone}");
    let none = stage.html(&format!("{path}&words=Lisbon")).await;
    assert!(none.contains("There is nothing to forget"), "{none}");
}

#[tokio::test]
async fn the_preview_of_one_fact_names_the_message_that_stays() {
    let stage = Stage::furnished().await;
    let id = stage.id_of("green tea").await;
    let preview = stage.html(&format!("/page/forget?{WHO}&id={id}")).await;
    assert!(
        preview.contains("The message that the memory came from stays"),
        "{preview}"
    );
    assert!(
        preview.contains("I drink green tea every morning") && preview.contains("Forget its conversation"),
        "{preview}"
    );
    assert!(
        preview.contains("no other person&#39;s memory") || preview.contains("no other person's memory"),
        "{preview}"
    );
}

#[tokio::test]
async fn an_import_leaves_out_forgotten_messages_unless_the_box_is_ticked() {
    let stage = Stage::new().await;
    // As a browser sends the form: the box after the file.
    let ended = async |box_: &str, ends: &str| {
        let path = format!("/page/import?{WHO}");
        let file = format!("I live in Oslo.\nPetra keeps bees.\n{box_}");
        let ask = upload("POST", &path, "notes.txt", file.as_bytes());
        let started = stage.ask(ask.header("sec-fetch-site", "same-origin")).await;
        assert_eq!(started.status, 303, "{}", started.text);
        let wait = async {
            loop {
                let html = stage.html(&path).await;
                if html.matches("See the memories").count() == ends.len() {
                    return html;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), wait)
            .await
            .expect("it ends")
    };
    assert!(ended("", "1").await.contains("notes.txt"));
    let fields = [("words", "petra"), ("sure", "1")];
    let gone = stage.submit(&format!("/page/forget?{WHO}"), &fields).await;
    assert!(
        gone.text
            .contains("<li>backups, exports and copies of the root: "),
        "{}",
        gone.text
    );
    let imports = stage.html(&format!("/page/import?{WHO}")).await;
    assert!(!imports.contains("notes.txt"), "its name goes with it: {imports}");
    let again = ended("", "1").await;
    assert!(again.contains("1 message forgotten before, left out"), "{again}");
    let none = stage.html(&format!("/page/forget?{WHO}&words=petra")).await;
    assert!(none.contains("There is nothing to forget"), "{none}");
    let ticked = "\r\n--xyz\r\nContent-Disposition: form-data; name=\"forgotten\"\r\n\r\n1";
    let again = ended(ticked, "12").await;
    assert!(
        again.contains("1 message forgotten before, stored again"),
        "{again}"
    );
    let back = stage.html(&format!("/page/forget?{WHO}&words=petra")).await;
    assert!(back.contains("Petra keeps bees."), "{back}");
}
