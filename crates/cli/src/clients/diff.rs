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
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
    let head = same(&mut old.iter().zip(&new));
    let tail = same(&mut old[head..].iter().rev().zip(new[head..].iter().rev()));
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut lines: Vec<DiffLine<'a>> = old[..head].iter().map(|line| (' ', *line)).collect();
    lines.extend(middle(&old[head..old_end], &new[head..new_end]));
    lines.extend(old[old_end..].iter().map(|line| (' ', *line)));
    lines
}

/// By the longest common subsequence.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<DiffLine<'a>> {
    let width = new.len() + 1;
    let is_small = (old.len() + 1) * width <= CELLS_MAX;
    let mut common = vec![0_u32; if is_small { (old.len() + 1) * width } else { 0 }];
    if is_small {
        for (a, line) in old.iter().enumerate().rev() {
            for (b, other) in new.iter().enumerate().rev() {
                let at = a * width + b;
                common[at] = if line == other {
                    common[at + width + 1] + 1
                } else {
                    common[at + width].max(common[at + 1])
                };
            }
        }
    }
    let mut lines = Vec::new();
    let (mut a, mut b) = (0, 0);
    while is_small && a < old.len() && b < new.len() {
        let at = a * width + b;
        if old[a] == new[b] {
            lines.push((' ', old[a]));
            (a, b) = (a + 1, b + 1);
        } else if common[at + width] >= common[at + 1] {
            lines.push(('-', old[a]));
            a += 1;
        } else {
            lines.push(('+', new[b]));
            b += 1;
        }
    }
    lines.extend(old[a..].iter().map(|line| ('-', *line)));
    lines.extend(new[b..].iter().map(|line| ('+', *line)));
    lines
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
