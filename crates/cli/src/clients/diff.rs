//! The difference of two texts, as `diff -u` shows it.

/// Unchanged lines around a change.
const AROUND: usize = 3;
/// Above this product of lines, a change counts as one block: nobody reads it line by line.
const CELLS_MAX: usize = 4_000_000;

/// A line and its sign: ` ` in both texts, `-` in the old one, `+` in the new one.
type DiffLine<'a> = (char, &'a str);

/// The difference, under the name of the file; none if there is none.
pub(crate) fn unified(name: &str, before: &str, after: &str) -> Option<String> {
    let lines = compared(before, after);
    let is_shown = |at: usize| {
        let near = &lines[at.saturating_sub(AROUND)..lines.len().min(at + AROUND + 1)];
        near.iter().any(|(sign, _)| *sign != ' ')
    };
    let mut out = String::new();
    let (mut old, mut new, mut at) = (1, 1, 0);
    while at < lines.len() {
        let hunk = lines[at..]
            .iter()
            .enumerate()
            .take_while(|(next, _)| is_shown(at + next));
        let hunk: Vec<DiffLine<'_>> = hunk.map(|(_, line)| *line).collect();
        if hunk.is_empty() {
            (old, new, at) = (old + 1, new + 1, at + 1);
            continue;
        }
        let without = |other: char| hunk.iter().filter(|(sign, _)| *sign != other).count();
        let (olds, news) = (without('+'), without('-'));
        let start = |at: usize, count: usize| at - usize::from(count == 0);
        let (from, to) = (start(old, olds), start(new, news));
        out.extend([format!("@@ -{from},{olds} +{to},{news} @@\n")]);
        for (sign, text) in &hunk {
            out.extend([format!("{sign}{}\n", text.trim_end_matches(['\r', '\n']))]);
        }
        (old, new, at) = (old + olds, new + news, at + hunk.len());
    }
    (!out.is_empty()).then(|| format!("--- {name}\n+++ {name}\n{out}"))
}

fn compared<'a>(before: &'a str, after: &'a str) -> Vec<DiffLine<'a>> {
    let [old, new] = [before, after].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let mut lines = Vec::new();
    compare(&old, &new, &mut lines);
    lines
}

/// What both begin and end with stays; between that, the longest common run does, and each side of it is compared alone.
fn compare<'a>(old: &[&'a str], new: &[&'a str], lines: &mut Vec<DiffLine<'a>>) {
    let signed = |sign: char| move |line: &&'a str| (sign, *line);
    let run = |old: &[&str], new: &[&str]| old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let head = run(old, new);
    lines.extend(old[..head].iter().map(signed(' ')));
    let (old, new) = (&old[head..], &new[head..]);
    let ends = old.iter().rev().zip(new.iter().rev());
    let tail = ends.take_while(|(a, b)| a == b).count();
    let ((old, end), new) = (old.split_at(old.len() - tail), &new[..new.len() - tail]);
    let is_small = old.len() * new.len() <= CELLS_MAX;
    let places = (0..old.len()).flat_map(|a| (0..new.len()).map(move |b| (a, b)));
    let runs = places
        .filter(|_| is_small)
        .map(|(a, b)| (run(&old[a..], &new[b..]), a, b));
    if let Some((1.., a, b)) = runs.rev().max_by_key(|(count, ..)| *count) {
        compare(&old[..a], &new[..b], lines);
        compare(&old[a..], &new[b..], lines);
    } else {
        lines.extend(old.iter().map(signed('-')));
        lines.extend(new.iter().map(signed('+')));
    }
    lines.extend(end.iter().map(signed(' ')));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_three_lines_around_them() {
        let before: String = ('a'..='t').flat_map(|line| [line, '\n']).collect();
        let after = before.replace("c\n", "c\nnew\n").replace("r\n", "changed\n");
        assert_eq!(
            unified("f", &before, &after).expect("differs"),
            "--- f\n+++ f\n@@ -1,6 +1,7 @@\n a\n b\n c\n+new\n d\n e\n f\n@@ -15,6 +16,6 @@\n o\n p\n q\n-r\n+changed\n s\n t\n"
        );
        assert_eq!(unified("f", &before, &before), None);
        assert_eq!(
            unified("f", "", "a\n").as_deref(),
            Some("--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n")
        );
    }
}
