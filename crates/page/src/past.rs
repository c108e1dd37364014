//! The effect of a file change on one memory.
//!
//! Owns: reading it from a diff. Never: undoing a run; a former text is restored as an edit.

use gateway::wire::history::{ChangeItem, ChangedBy};

use crate::words;

/// The end of a profile's path.
pub(crate) const PROFILE: &str = "/profile/profile.md";

/// One change of one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PastChange {
    pub(crate) at: String,
    pub(crate) by: String,
    /// A person changed existing text.
    pub(crate) is_correction: bool,
    pub(crate) reason: Option<String>,
    /// The texts before and after the change; none for a memory of more than one line.
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    /// Address of the view with the whole change.
    pub(crate) address: String,
}

/// Reads the changes of one memory, the newest first.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) entry: &'a str,
    /// The end of the path of the memory's file; empty for any file.
    pub(crate) path: &'a str,
    pub(crate) known: KnownBy,
    /// The server needs no token: every person who changes something is the visitor.
    pub(crate) is_one_person: bool,
}

/// How the reader finds the memory in a diff.
#[derive(Debug)]
pub(crate) enum KnownBy {
    /// By the mark in its first line.
    Mark,
    /// By its text before the next newer change; none once that change added the line. The mark of a profile line is
    /// too far above the line.
    Words(Option<String>),
}

/// The texts before and after.
type Words = (Option<String>, Option<String>);

impl Reader<'_> {
    /// The next older change; none if the diff does not touch the memory.
    pub(crate) fn read(&mut self, diff: &str, change: &ChangeItem) -> Option<PastChange> {
        let (before, after) = match &self.known {
            KnownBy::Mark => self.of_mark(diff)?,
            KnownBy::Words(None) => return None,
            KnownBy::Words(Some(words)) => {
                let (before, after) = self.of_words(diff, words)?;
                self.known = KnownBy::Words(before.clone());
                (before, after)
            }
        };
        let person = if self.is_one_person { "You" } else { "A person" };
        let is_addition = before.is_none() && after.is_some();
        let by = match change.by {
            ChangedBy::Person => person.to_owned(),
            ChangedBy::Run => {
                let strategy = change.strategy.as_deref().unwrap_or("background run");
                format!("Quipu: {}", words::strategy(strategy))
            }
        };
        Some(PastChange {
            at: words::moment(&change.at),
            is_correction: !is_addition && by == person,
            by,
            reason: change.reason.as_deref().map(words::reason),
            before,
            after,
            address: format!("/page/change/{}", change.id),
        })
    }

    /// The change of the line with the memory's mark.
    fn of_mark(&self, diff: &str) -> Option<Words> {
        let mark = format!("<!--{} ", self.entry);
        let (mut before, mut after) = (None, None);
        // A summary has several lines, from its heading to the next heading.
        let (mut is_below, mut is_touched) = (false, false);
        for line in self.lines(diff) {
            let is_changed = line.starts_with(['-', '+']);
            if line.contains(&mark) {
                let text = || line.get(1..)?.split(&mark).next().map(line_text);
                match line.as_bytes().first() {
                    Some(b'-') => before = text(),
                    Some(b'+') => after = text(),
                    _ => {}
                }
                is_below = self.entry.starts_with("ep_");
                is_touched |= is_below && is_changed;
            } else if line.starts_with("@@") || line.get(1..).is_some_and(|line| line.starts_with("## ")) {
                is_below = false;
            } else {
                is_touched |= is_below && is_changed && !line[1..].trim().is_empty();
            }
        }
        if before == after {
            is_touched.then_some((None, None))
        } else {
            Some((before, after))
        }
    }

    /// The line with the memory's text, and the line that it replaced.
    fn of_words(&self, diff: &str, words: &str) -> Option<Words> {
        let mut above = None;
        for line in self.lines(diff) {
            if line.strip_prefix('+') == Some(words) {
                return Some((above.map(str::to_owned), Some(words.to_owned())));
            }
            above = line.strip_prefix('-');
        }
        None
    }

    /// The lines of the diff that belong to the memory's file.
    fn lines<'d>(&self, diff: &'d str) -> impl Iterator<Item = &'d str> {
        let path = self.path.to_owned();
        let mut is_here = false;
        diff.lines().filter(move |line| {
            if let Some(file) = line.strip_prefix("+++ ") {
                is_here = file.ends_with(&path);
            }
            is_here
        })
    }
}

/// The person and the day of the last correction; none if the text is the one before all corrections.
pub(crate) fn corrected(past: &[PastChange], text: &str) -> Option<String> {
    let is_first = |change: &&PastChange| change.is_correction;
    let first = past.iter().rfind(is_first)?;
    if first.before.as_deref() == Some(text) {
        return None;
    }
    let last = past.iter().find(is_first)?;
    let day = last.at.split(',').next()?;
    Some(format!("{} corrected this on {day}.", last.by))
}

/// The text of an entry's line, without the signs of a list or heading.
fn line_text(line: &str) -> String {
    line.trim_start_matches(['-', '#', ' ']).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "\
--- a/users/maya/facts/1.md
+++ b/users/maya/facts/1.md
@@ af_1 @@
 - Maya drinks tea. <!--af_0 2025-02-11T08:20:00Z-->
-- Maya lives in Lisbon. <!--af_1 2025-02-11T08:20:00Z-->
+- Maya lives in Porto. <!--af_1 2025-02-11T08:20:00Z-->
";

    const PROFILE_DIFF: &str = "\
--- a/users/maya/profile/profile.md
+++ b/users/maya/profile/profile.md
@@ pf_1 @@
 
 > Said on 18 September 2025.

-Maya moved to Faro.
+Maya moved to Braga.

 <!-- end -->
";

    fn reader<'a>(entry: &'a str, path: &'a str) -> Reader<'a> {
        Reader {
            entry,
            path,
            known: KnownBy::Mark,
            is_one_person: true,
        }
    }

    fn by_person() -> ChangeItem {
        ChangeItem {
            id: "1".to_owned(),
            at: "2026-11-26T04:35:00Z".to_owned(),
            by: ChangedBy::Person,
            run_id: None,
            strategy: None,
            reason: None,
            undoes: None,
            subject: String::new(),
            files: Vec::new(),
        }
    }

    #[test]
    fn a_change_is_read_from_the_line_with_the_mark_of_the_memory() {
        let past = reader("af_1", "users/maya/facts/1.md").read(DIFF, &by_person());
        let past = past.expect("a change");
        assert_eq!(past.before.as_deref(), Some("Maya lives in Lisbon."));
        assert_eq!(past.after.as_deref(), Some("Maya lives in Porto."));
        assert_eq!(
            reader("af_1", "users/jon/facts/1.md").read(DIFF, &by_person()),
            None
        );
        assert_eq!(
            reader("af_10", "users/maya/facts/1.md").read(DIFF, &by_person()),
            None
        );
    }

    #[test]
    fn a_profile_line_is_followed_by_its_text() {
        let mut line = Reader {
            known: KnownBy::Words(Some("Maya moved to Braga.".to_owned())),
            ..reader("pf_1", PROFILE)
        };
        let past = line.read(PROFILE_DIFF, &by_person()).expect("a change");
        assert_eq!(past.before.as_deref(), Some("Maya moved to Faro."));
        assert_eq!(past.after.as_deref(), Some("Maya moved to Braga."));
        // The reader now looks for the former text.
        assert_eq!(line.read(PROFILE_DIFF, &by_person()), None);
        let first = PROFILE_DIFF
            .replace("-Maya moved to Faro.\n", "")
            .replace("Braga", "Faro");
        let past = line.read(&first, &by_person()).expect("its addition");
        assert_eq!((past.before, past.by.as_str()), (None, "You"));
        assert_eq!(line.read(&first, &by_person()), None);
    }

    #[test]
    fn a_summary_is_changed_by_lines_below_its_heading_only() {
        let diff =
            "+++ b/e.md\n@@ -1 +1 @@\n ## One <!--ep_1 2026-->\n\n+\n+## Two <!--ep_2 2026-->\n+Text.\n";
        assert_eq!(reader("ep_1", "e.md").read(diff, &by_person()), None);
        let diff = "+++ b/e.md\n@@ -1 +1 @@\n ## One <!--ep_1 2026-->\n\n-Old.\n+New.\n";
        let past = reader("ep_1", "e.md").read(diff, &by_person()).expect("a change");
        assert!(past.is_correction, "{past:?}");
    }

    #[test]
    fn a_change_names_the_person_and_restored_text_is_no_correction() {
        let change = by_person();
        let mut yours = reader("af_1", "");
        let past = [yours.read(DIFF, &change).expect("a change")];
        assert_eq!(past[0].by, "You");
        let said = corrected(&past, "Maya lives in Porto.");
        assert_eq!(said.as_deref(), Some("You corrected this on 26 November 2026."));
        assert_eq!(corrected(&past, "Maya lives in Lisbon."), None);
        yours.is_one_person = false;
        assert_eq!(yours.read(DIFF, &change).expect("a change").by, "A person");
    }
}
