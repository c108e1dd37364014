//! Lists of words in a text file next to their code.
//!
//! Owns: the form of such a file. Never: the meaning of a list.

use std::collections::HashMap;

/// The lists of a file. `[name]` begins a list, and each line below it is an entry; a line that begins with `//` is a
/// comment. In an entry, `\n` stands for a line end and `\s` for a space.
#[derive(Debug)]
pub struct Lists(HashMap<&'static str, Vec<String>>);

impl Lists {
    pub fn read(file: &'static str) -> Self {
        let mut lists: HashMap<&str, Vec<String>> = HashMap::new();
        let mut name = "";
        for line in file.lines().filter(|line| !line.starts_with("//")) {
            if let Some(next) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                name = next;
            } else {
                let entry = line.replace("\\n", "\n").replace("\\s", " ");
                lists.entry(name).or_default().push(entry);
            }
        }
        Self(lists)
    }

    /// The entries of a list; the file must contain it.
    pub fn list(&self, name: &str) -> &[String] {
        self.0.get(name).expect("the file has every list of its code")
    }

    /// Whether a list has this entry.
    pub fn has(&self, name: &str, entry: &str) -> bool {
        self.list(name).iter().any(|one| one == entry)
    }
}
