//! Categories as text, and answers of models.

use documents::taxonomy::{OTHERS, answer, parse, prompt, render, usual};
use documents::{Source, read};

#[test]
fn a_person_can_edit_the_list() {
    let usual = usual();
    assert_eq!(parse(&render(&usual)), usual);
    let text = "# Mine\n\nWords.\n- **Bread**: sour dough\n* Bread: twice\n  - No description\n- , :x\n-:y\n";
    let ids: Vec<_> = parse(text).into_iter().map(|category| category.id).collect();
    assert_eq!(ids, ["Bread", "No description", OTHERS]);
    assert_eq!(parse(text)[0].description, "sour dough");
    assert_eq!(parse("").len(), 1);
}

#[test]
fn a_models_answer_names_one_category_or_none() {
    let categories = parse("- Art: a\n- Arts and crafts: b\n- Law: c\n- 料理: d");
    let id = |text: &str| answer(text, &categories).map(|category| category.id.as_str());
    for (text, expected) in [
        (r#"{"category_id": "Law"}"#, Some("Law")),
        ("```json\n{'category_id': 'law',}\n```", Some("Law")),
        (
            "<think>Art? Arts and crafts?</think>\n{\"category_id\":\"Law\"",
            Some("Law"),
        ),
        ("Law", Some("Law")),
        ("It belongs to **Law**.", Some("Law")),
        (r#"{"category_id": "Arts and crafts"}"#, Some("Arts and crafts")),
        (r#"{"category_id": "Art"}"#, Some("Art")),
        (r#"{"category_id": "料理"}"#, Some("料理")),
        (r#"{"category_id": "Others"}"#, Some(OTHERS)),
        ("Law or Others", None),
        (r#"{"category_id": "Lawn care"}"#, None),
        (r#"{"category_id": null}"#, None),
        ("", None),
    ] {
        assert_eq!(id(text), expected, "{text}");
    }
}

#[test]
fn the_prompt_has_the_categories_and_the_beginning() {
    let Source { title, .. } = read(b"# Bread\n\nFlour.", "a.md", "").expect("reads");
    let source = read("x".repeat(100_000).as_bytes(), "a.txt", "").expect("reads");
    let asked = prompt(&source.markdown, &title, &usual());
    assert!(asked.user.contains("<title>Bread</title>") && asked.user.contains("- Food: Cooking"));
    assert!(asked.user.len() < 10_000);
}
