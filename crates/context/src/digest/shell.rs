//! Effects of a shell command on files, read from its text.
//!
//! Owns: words, quotes, here-documents, redirections and the common programs. Never: expanding a variable or a pattern;
//! a path that needs it is left out.

use super::files::{Act, Effect};

/// Maximum bytes of a script that are read.
const SCRIPT_BYTES_MAX: usize = 16 * 1024;
const PATH_BYTES_MAX: usize = 300;

#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    /// `>` or `>>`; the path follows as a word.
    Into,
    From,
    End,
}

/// The files that a command touches, in order.
pub(crate) fn effects(script: &str) -> Vec<Effect> {
    let script = &script[..script.floor_char_boundary(SCRIPT_BYTES_MAX)];
    let mut found = Vec::new();
    let mut folder = String::new();
    for command in tokens(script).split(|token| *token == Token::End) {
        simple(command, &mut folder, &mut found);
    }
    found
}

/// Words and operators; the bodies of here-documents are left out.
fn tokens(script: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut heredoc: Option<String> = None;
    let mut chars = script.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => {
                if let Some((_, next)) = chars.next().filter(|(_, next)| *next != '\n') {
                    word.get_or_insert_default().push(next);
                }
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '<') if script[at..].starts_with("<<") && !script[at..].starts_with("<<<") => {
                found.extend(word.take().map(Token::Word));
                chars.next();
                let rest = script[at + 2..].trim_start_matches(['-', ' ']);
                let name = rest
                    .split(|c: char| c.is_whitespace() || matches!(c, ')' | ';' | '>' | '|'))
                    .next()
                    .unwrap_or("");
                let name = name.trim_matches(['"', '\'', '\\']);
                heredoc = Some(name.to_owned()).filter(|name| !name.is_empty());
                let skip = at
                    + 2
                    + (script[at + 2..].len() - rest.len())
                    + rest
                        .find(|c: char| c.is_whitespace() || c == '>')
                        .unwrap_or(rest.len());
                while chars.next_if(|(next, _)| *next < skip).is_some() {}
            }
            (None, '>' | '<') => {
                // The number before it is a descriptor, not an argument.
                let word = word
                    .take()
                    .filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'&'));
                found.extend(word.map(Token::Word));
                while chars
                    .next_if(|(_, next)| matches!(next, '>' | '|' | '<'))
                    .is_some()
                {}
                found.push(if c == '>' { Token::Into } else { Token::From });
            }
            (None, '\n' | ';' | '|' | '(' | ')' | '&')
                if c != '&' || !script[..at].ends_with('>') && !script[at + 1..].starts_with('>') =>
            {
                found.extend(word.take().map(Token::Word));
                found.push(Token::End);
                if let (Some(name), '\n') = (&heredoc, c) {
                    let body = at + 1;
                    let end = end_of_body(&script[body..], name).map_or(script.len(), |end| body + end);
                    while chars.next_if(|(next, _)| *next < end).is_some() {}
                    heredoc = None;
                }
            }
            (None, c) if c.is_whitespace() => found.extend(word.take().map(Token::Word)),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    found.extend(word.map(Token::Word));
    found
}

/// The place after the line that contains only `name`.
fn end_of_body(body: &str, name: &str) -> Option<usize> {
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        at += line.len();
        if line.trim() == name {
            return Some(at);
        }
    }
    None
}

/// One program with its arguments.
fn simple(tokens: &[Token], folder: &mut String, found: &mut Vec<Effect>) {
    let mut words: Vec<&str> = Vec::new();
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(word) => words.push(word),
            Token::Into | Token::From => {
                if let Some(Token::Word(path)) = tokens.next() {
                    let act = if *token == Token::Into {
                        Act::Written
                    } else {
                        Act::Read
                    };
                    push(found, act, folder, path, None);
                }
            }
            Token::End => {}
        }
    }
    let assigns = |word: &&&str| {
        word.split_once('=')
            .is_some_and(|(name, _)| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
    };
    let lead = words
        .iter()
        .take_while(|word| {
            assigns(word)
                || matches!(
                    **word,
                    "sudo" | "time" | "env" | "command" | "then" | "do" | "else"
                )
        })
        .count();
    let mut words = words[lead..].iter().copied();
    let Some(mut program) = words.next() else {
        return;
    };
    if program == "git" {
        program = match words.next() {
            Some("mv") => "mv",
            Some("rm") => "rm",
            Some("restore") => "restore",
            _ => return,
        };
    }
    program_on(program, &words.collect::<Vec<_>>(), folder, found);
}

/// Effects of a program on the files among its arguments.
fn program_on(program: &str, rest: &[&str], folder: &mut String, found: &mut Vec<Effect>) {
    let flag = |short: char| {
        rest.iter()
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(short))
    };
    let paths: Vec<&str> = rest
        .iter()
        .copied()
        .filter(|word| !word.starts_with('-'))
        .collect();
    match program.rsplit('/').next().unwrap_or(program) {
        "cd" | "pushd" => *folder = paths.first().map_or_else(String::new, |path| under(folder, path)),
        "rm" | "unlink" => each(found, Act::Deleted, folder, &paths),
        "touch" => each(found, Act::Created, folder, &paths),
        "tee" => {
            let act = if flag('a') { Act::Modified } else { Act::Written };
            each(found, act, folder, &paths);
        }
        "truncate" | "restore" => each(found, Act::Modified, folder, &paths),
        "mv" => moved(found, Act::Renamed, folder, &paths),
        "cp" | "install" => moved(found, Act::Created, folder, &paths),
        "ln" => each(found, Act::Created, folder, paths.get(1..).unwrap_or_default()),
        "sed" | "perl" => {
            let script = usize::from(!rest.iter().any(|word| matches!(*word, "-e" | "-f")));
            let files: Vec<&str> = paths
                .iter()
                .copied()
                .skip(script)
                .filter(|path| looks_like_path(path))
                .collect();
            let act = if flag('i') { Act::Modified } else { Act::Read };
            each(found, act, folder, &files);
        }
        "cat" | "less" | "more" | "nl" | "head" | "tail" | "bat" => {
            let files: Vec<&str> = paths.into_iter().filter(|path| looks_like_path(path)).collect();
            each(found, Act::Read, folder, &files);
        }
        _ => {}
    }
}

fn looks_like_path(word: &str) -> bool {
    word.contains(['.', '/']) && !word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        || word.starts_with(char::is_uppercase)
}

fn each(found: &mut Vec<Effect>, act: Act, folder: &str, paths: &[&str]) {
    for path in paths {
        push(found, act, folder, path, None);
    }
}

/// Effects of a move or copy: the last path is the destination.
fn moved(found: &mut Vec<Effect>, act: Act, folder: &str, paths: &[&str]) {
    let Some((&target, sources)) = paths.split_last() else {
        return;
    };
    for source in sources {
        let name = source.rsplit('/').next().unwrap_or(source);
        let into = target.ends_with('/') || target == "." || sources.len() > 1;
        let path = if into {
            under(target.trim_end_matches('/'), name)
        } else {
            target.to_owned()
        };
        let from = Some(*source).filter(|_| act == Act::Renamed);
        push(found, act, folder, &path, from);
    }
}

fn push(found: &mut Vec<Effect>, act: Act, folder: &str, path: &str, from: Option<&str>) {
    let known = |path: &str| {
        let odd = path.contains(['$', '*', '`', '?', '{', '\n', '&']) || path.starts_with("/dev/");
        !path.is_empty() && path != "." && path.len() <= PATH_BYTES_MAX && !odd
    };
    if known(path) && from.is_none_or(known) {
        found.push(Effect {
            from: from.map(|from| under(folder, from)),
            ..Effect::new(act, under(folder, path))
        });
    }
}

/// `path` relative to `folder`.
fn under(folder: &str, path: &str) -> String {
    let path = path.trim_start_matches("./");
    if folder.is_empty() || folder == "." || path.starts_with(['/', '~']) {
        return path.to_owned();
    }
    format!("{}/{path}", folder.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn effects_text(script: &str) -> String {
        let effects: Vec<String> = effects(script)
            .iter()
            .map(|e| {
                format!(
                    "{:?} {}{}",
                    e.act,
                    e.path,
                    e.from.as_ref().map_or(String::new(), |from| format!(" < {from}"))
                )
            })
            .collect();
        effects.join("; ")
    }

    #[test]
    fn common_programs() {
        for (script, wanted) in [
            (
                "rm -rf build/out 'a b.txt' && touch x.md",
                "Deleted build/out; Deleted a b.txt; Created x.md",
            ),
            ("git mv src/a.rs src/b.rs", "Renamed src/b.rs < src/a.rs"),
            ("cd sub && mv a.c ../b/", "Renamed sub/../b/a.c < sub/a.c"),
            (
                "sed -i 's/a.b/c/' x/y.py; sed -n 1,5p z.py",
                "Modified x/y.py; Read z.py",
            ),
            ("echo hi >> log.txt 2>&1; make > /dev/null", "Written log.txt"),
            (
                "cat > conf.yml <<'EOF'\nrm -rf x.txt\nEOF\nrm y.txt",
                "Written conf.yml; Deleted y.txt",
            ),
            ("cat <<EOF > a.txt\nfoo\nEOF", "Written a.txt"),
            (
                "FOO=1 sudo cp a.txt b.txt | tee out.log",
                "Created b.txt; Written out.log",
            ),
            ("rm $TMP/*.log; echo \"a > b\"", ""),
            ("git commit -m 'rm x' && head -n 20 README", "Read README"),
        ] {
            assert_eq!(effects_text(script), wanted, "{script}");
        }
    }

    proptest! {
        #[test]
        fn any_script_is_read(script in "(rm |cat |>|<<|EOF|\\n|'|\"|\\\\|&&|\\PC){0,40}") {
            effects(&script);
        }
    }
}
