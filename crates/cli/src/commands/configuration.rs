//! `quipu config` and `quipu context instructions`: the effective settings with their origin, and the files they choose.

use context::bootstrap::CHARS_MAX;
use serde_json::{Map, Value, json};

use super::Desk;
use crate::error::{Exit, Failure};
use crate::instructions::InstructionFiles;
use crate::output::say;

pub(super) fn show(desk: &Desk) -> Result<Exit, Failure> {
    let (loaded, rows) = (&desk.loaded, desk.loaded.rows());
    let keys = rows
        .iter()
        .map(|(key, value, source)| (key.clone(), json!({"value": value, "source": source})));
    let keys: Map<String, Value> = keys.collect();
    desk.tell(
        &json!({"root": desk.root, "file": loaded.file, "keys": keys}),
        || {
            say!("# root: {}", desk.root.display())?;
            rows.iter().try_for_each(|(key, value, source)| {
                let setting = format!("{key} = {value}");
                say!("{setting:<48} # {source}")
            })
        },
    )
}

/// Prints the instruction files in order, and the files that are not used.
pub(super) fn instructions(desk: &Desk) -> Result<Exit, Failure> {
    let loaded = InstructionFiles::new(&desk.loaded.config, &desk.root).load(CHARS_MAX);
    let files = loaded.sections.iter().map(|section| {
        json!({
            "path": section.path, "chars": section.chars, "truncated": section.truncated, "dangers": section.dangers,
        })
    });
    let unused = loaded.notes.iter();
    let unused = unused.map(|note| json!({"path": note.path, "reason": note.what.to_string()}));
    let (files, unused): (Vec<Value>, Vec<Value>) = (files.collect(), unused.collect());
    desk.tell(
        &json!({"files": files, "unused": unused, "chars_max": CHARS_MAX}),
        || {
            for section in &loaded.sections {
                let cut = if section.truncated { ", cut" } else { "" };
                let dangers = match section.dangers.join(", ") {
                    none if none.is_empty() => none,
                    dangers => format!(", dangerous patterns: {dangers}"),
                };
                let (chars, path) = (section.chars, section.path.display());
                say!("{chars:>6} characters  {path}{cut}{dangers}")?;
            }
            for note in &loaded.notes {
                say!("         not used  {}: {}", note.path.display(), note.what)?;
            }
            let all = loaded.content.chars().count();
            say!("{all:>6} of {CHARS_MAX} characters, headings included")
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::tests::desk;
    use crate::output::tests::SAID;

    #[test]
    fn instruction_files_are_listed_with_sizes_and_problems() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("instructions");
        std::fs::create_dir_all(folder.join("TOOLS.md")).expect("a folder");
        std::fs::write(folder.join("AGENTS.md"), "Run eval(input).").expect("a file");
        std::fs::write(folder.join("CLAUDE.md"), "Unused.").expect("a file");
        std::fs::write(root.path().join("secret"), "Outside.").expect("a file");
        std::os::unix::fs::symlink(root.path().join("secret"), folder.join("SOUL.md")).expect("a link");
        std::fs::write(folder.join("USER.md"), "x".repeat(30_000)).expect("a file");
        SAID.take();
        instructions(&desk(root.path(), &[])).expect("shown");
        let said = SAID.take().replace(folder.to_str().expect("a path"), "F");
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(
            lines,
            [
                "    16 characters  F/AGENTS.md, dangerous patterns: eval",
                " 19934 characters  F/USER.md, cut",
                "         not used  F/SOUL.md: leads out of its folder",
                "         not used  F/TOOLS.md: not a text file",
                " 20000 of 20000 characters, headings included",
            ]
        );
        let named = desk(
            root.path(),
            &[("QUIPU_PROXY__INSTRUCTION_FILES", "[\"CLAUDE.md\"]")],
        );
        instructions(&Desk { json: true, ..named }).expect("shown");
        let said: Value = serde_json::from_str(&SAID.take()).expect("JSON");
        assert_eq!(
            said,
            json!({
                "files": [{"path": folder.join("CLAUDE.md"), "chars": 7, "truncated": false, "dangers": []}],
                "unused": [],
                "chars_max": 20_000,
            })
        );
    }
}
