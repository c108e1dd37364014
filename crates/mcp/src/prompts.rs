//! Prompts that a person can choose in a client.
//!
//! Owns: their text. Never: memory; the model reads it with the tools.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use crate::api::ToolRefusal;

const ABOUT_ME: &str = "what_do_you_know_about_me";
const REVIEW: &str = "review_what_you_believe";
const SAVE: &str = "save_this";
/// The argument of [`SAVE`].
const TEXT: &str = "text";

/// Every prompt.
pub(crate) fn list() -> Vec<Prompt> {
    let text = PromptArgument::new(TEXT)
        .with_description("What to save; without it, what the conversation has settled");
    vec![
        Prompt::new(
            ABOUT_ME,
            Some("Show what memory says about you, with its sources"),
            None,
        )
        .with_title("What do you know about me?"),
        Prompt::new(
            REVIEW,
            Some("Say which facts are true, wrong, a game or over"),
            None,
        )
        .with_title("Review what you believe about me"),
        Prompt::new(SAVE, Some("Save something to memory"), Some(vec![text])).with_title("Save this"),
    ]
}

/// The message of a prompt, with its arguments filled in.
pub(crate) fn get(name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ToolRefusal> {
    let words = match name {
        ABOUT_ME => "Tell me what you remember about me. Read `profile`, then `list` my facts. Group what you find by \
            subject, say since when you know it, name what may be out of date, and offer to correct or forget any of it."
            .to_owned(),
        REVIEW => "Go through what you believe about me. `list` facts, show me five at a time, numbered, each with its date, and ask me \
            which are true, which are wrong, which were said in a game and which are no longer true. For each one that I answer, and for \
            no other, call `update` with its `id` and a `verdict`."
            .to_owned(),
        SAVE => save(arguments.get(TEXT).and_then(|text| text.as_str())),
        _ => return Err(ToolRefusal::new(format!("there is no prompt `{name}`"))),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(
        Role::User,
        words,
    )]))
}

fn save(text: Option<&str>) -> String {
    let what = match text.map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => format!("Save this to memory:\n\n{text}\n\n"),
        None => "Save to memory what this conversation has settled.\n\n".to_owned(),
    };
    format!(
        "{what}Call `remember` once for each fact, in a sentence that stands alone: names instead of pronouns, dates \
         instead of \"today\". If memory already has an older version, `search` for it and `update` that instead."
    )
}
