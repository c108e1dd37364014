//! Leftovers of a deletion, and the reasons.
//!
//! Owns: the deleted texts, by which other files are known to repeat them, and the list. Never: deleting.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use model::text::chain;
use ports::HasText;

use crate::api::{Forget, Forgot, Leftover};
use crate::base::Base;
use crate::error::EngineError;
use crate::files::removal::{DeletedText, LINE_BYTES_MIN};
use crate::files::{owned, removal};
use crate::words::Words;

/// Maximum number of files that are named; more are counted.
const NAMED_MAX: usize = 100;

/// Why the history that an earlier version kept stays.
const OLD_HISTORY_KEPT: &str = "this deletion found nothing to delete, so the history of an earlier version stays; \
    it can have what was deleted before: delete the folder yourself";

/// Does the work of a deletion and adds its leftovers to the result.
pub(crate) async fn with_leftovers(
    base: &Base,
    forget: &Forget,
    work: impl Future<Output = Result<Forgot, EngineError>>,
) -> Result<Forgot, EngineError> {
    let (forgot, DeletedText { lines, owners }) = removal::with_deleted_text(work).await;
    let mut forgot = forgot?;
    forgot.left = files(base, forget, lines).await;
    if forgot.entries + forgot.messages + forgot.conversations + forgot.rewritten > 0 {
        forgot.left.extend(out_of_reach(forget));
    }
    if base.parts.vault.has_old_history().await.unwrap_or(true) {
        forgot
            .left
            .push(Leftover::new("history.before.git", OLD_HISTORY_KEPT));
    }
    forgot.owners = owners;
    forgot.owners.extend(forget.owner().cloned());
    Ok(forgot)
}

/// The files in the folder of the deletion's target that may repeat deleted text.
async fn files(base: &Base, forget: &Forget, lines: BTreeSet<String>) -> Vec<Leftover> {
    let scope = forget.scope();
    let folder = forget
        .owner()
        .map(|owner| owned::folder_of(&base.parts, scope, owner));
    let folder = folder.unwrap_or_else(|| base.parts.vault.folder_of(scope));
    let is_whole = matches!(forget, Forget::Owner(..));
    let has: HasText = match forget {
        Forget::Owner(..) => Arc::new(|_| true),
        Forget::Words(target) => match Words::parse(&target.words) {
            Ok(words) => Arc::new(move |text| text.lines().any(|line| words.are_in([line]))),
            Err(_) => return Vec::new(),
        },
        _ if lines.is_empty() => return Vec::new(),
        _ => repeats(lines),
    };
    let found = match base.parts.vault.foreign(&folder, has).await {
        Ok(found) => found,
        Err(error) => {
            let why = format!("it cannot be searched for deleted text: {}", chain(&error));
            return vec![Leftover::new(format!("memory/{folder}"), why)];
        }
    };
    let more = found.len().saturating_sub(NAMED_MAX);
    let named = found.into_iter().take(NAMED_MAX).map(|file| {
        let why = match (file.is_read, is_whole) {
            (true, true) => "Quipu did not write it, so it stays in the folder",
            (true, false) => "it has deleted text, and Quipu does not change it: delete it yourself",
            (false, _) => "Quipu cannot look into it, and it may have deleted text: look yourself",
        };
        Leftover::new(format!("memory/{}", file.path), why)
    });
    let mut left: Vec<Leftover> = named.collect();
    if more > 0 {
        left.push(Leftover::new(
            format!("memory/{folder}"),
            format!("{more} more such files"),
        ));
    }
    left
}

/// Whether a text contains one of these lines.
fn repeats(lines: BTreeSet<String>) -> HasText {
    let mut by_beginning: HashMap<[u8; LINE_BYTES_MIN], Vec<String>> = HashMap::new();
    for line in lines {
        if let Some(beginning) = line.as_bytes().first_chunk() {
            by_beginning.entry(*beginning).or_default().push(line);
        }
    }
    Arc::new(move |text| {
        let text = text.as_bytes();
        (0..text.len()).any(|at| {
            let rest = &text[at..];
            let lines = rest
                .first_chunk()
                .and_then(|beginning| by_beginning.get(beginning));
            lines.is_some_and(|lines| lines.iter().any(|line| rest.starts_with(line.as_bytes())))
        })
    })
}

/// Places that no deletion of this kind reaches.
fn out_of_reach(forget: &Forget) -> Vec<Leftover> {
    let mut left = Vec::new();
    if !matches!(forget, Forget::Session(_) | Forget::Entries(..)) {
        left.push(Leftover::new(
            "memories of other owners",
            "they keep what was said in the same sessions; forget a session to delete it for everyone",
        ));
    }
    if matches!(forget, Forget::Owner(..)) {
        left.push(Leftover::new(
            "memory in other projects",
            "a deletion reaches one project",
        ));
    }
    if matches!(forget, Forget::Words(_)) {
        left.push(Leftover::new(
            "documents and live conversations",
            "a deletion by words does not look into them",
        ));
    }
    left.push(Leftover::new(
        "backups, exports and copies of the root",
        "Quipu does not know where they are; delete those made before",
    ));
    left
}

#[cfg(test)]
mod tests {
    use super::repeats;

    #[test]
    fn a_text_that_contains_a_line_repeats_it() {
        let lines = ["The alarm code is Zebra.", "The alarm bell", "Grüße aus Köln"];
        let has = repeats(lines.map(str::to_owned).into());
        for text in [
            "> The alarm code is Zebra. (old)",
            "xThe alarm bell",
            "Grüße aus Köln",
        ] {
            assert!(has(text), "{text}");
        }
        for text in ["", "The alarm", "The alarm code is zebra.", "Grüße"] {
            assert!(!has(text), "{text}");
        }
    }
}
