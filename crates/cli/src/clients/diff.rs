//! The difference of two texts, as `diff -u` shows it.

use similar::TextDiff;

/// The difference under the file's name; `None` if the texts are equal.
pub(crate) fn unified(name: &str, before: &str, after: &str) -> Option<String> {
    let diff = TextDiff::from_lines(before, after);
    let lines = diff
        .unified_diff()
        .header(name, name)
        .missing_newline_hint(false)
        .to_string();
    (!lines.is_empty()).then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_three_lines_around_each_change() {
        let before: String = ('a'..='t').flat_map(|line| [line, '\n']).collect();
        let after = before.replace("c\n", "c\nnew\n").replace("r\n", "changed\n");
        assert_eq!(
            unified("f", &before, &after).expect("differs"),
            "--- f\n+++ f\n@@ -1,6 +1,7 @@\n a\n b\n c\n+new\n d\n e\n f\n@@ -15,6 +16,6 @@\n o\n p\n q\n-r\n+changed\n s\n t\n"
        );
        assert_eq!(unified("f", &before, &before), None);
        assert_eq!(
            unified("f", "", "a\n").as_deref(),
            Some("--- f\n+++ f\n@@ -0,0 +1 @@\n+a\n")
        );
    }
}
