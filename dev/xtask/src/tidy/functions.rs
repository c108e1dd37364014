//! Function length, also for the crates that clippy does not see because linting them would build LanceDB again.

use super::{SourceFile, is_test};

const LINES_MAX: usize = 70;

/// Functions longer than the cap. Relies on rustfmt: a function ends at the first `}` in its own column.
pub(crate) fn check(file: &SourceFile) -> Vec<String> {
    if is_test(&file.path) {
        return Vec::new();
    }
    let lines: Vec<&str> = file.text.lines().collect();
    let mut problems = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        if in_test_module(&lines, start) {
            break;
        }
        if !opens_function(line) {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let end = lines[start..].iter().position(|l| is_end(l, indent));
        let length = end.map_or(0, |offset| offset + 1);
        if length > LINES_MAX {
            let at = start + 1;
            let path = &file.path;
            problems.push(format!(
                "{path}:{at}: a function of {length} lines, the cap is {LINES_MAX}"
            ));
        }
    }
    problems
}

fn in_test_module(lines: &[&str], at: usize) -> bool {
    lines[at].trim() == "#[cfg(test)]" && lines.get(at + 1).is_some_and(|l| l.trim() == "mod tests {")
}

fn opens_function(line: &str) -> bool {
    let words = line.split_whitespace();
    let mut words = words.skip_while(|word| {
        word.starts_with("pub") || matches!(*word, "async" | "const" | "extern" | "in" | "crate)")
    });
    words.next() == Some("fn")
}

fn is_end(line: &str, indent: usize) -> bool {
    let own = line.len() - line.trim_start().len() == indent;
    own && (line.trim() == "}" || line.ends_with(';') || (line.contains("fn ") && line.ends_with('}')))
}
