//! Parts of a page that its reader does not see.
//!
//! Owns: elements that are never text, and elements marked as hidden; hidden text is a way to
//! address a model behind its user's back. Never: rules in style sheets, colours.

use html5gum::StartTag;

use super::is_in;

/// Elements whose content is never text.
const NO_TEXT: [&str; 18] = [
    "script", "style", "nav", "template", "noscript", "iframe", "object", "applet", "svg", "canvas", "audio",
    "video", "select", "datalist", "textarea", "button", "noembed", "noframes",
];

pub(super) fn is_hidden(tag: &StartTag<()>) -> bool {
    is_in(&NO_TEXT, &tag.name)
        || tag.attributes.contains_key(&b"hidden"[..])
        || tag.name[..] == *b"dialog" && !tag.attributes.contains_key(&b"open"[..])
        || tag
            .attributes
            .get(&b"role"[..])
            .is_some_and(|role| role.eq_ignore_ascii_case(b"navigation"))
        || tag
            .attributes
            .get(&b"style"[..])
            .is_some_and(|style| hides(&String::from_utf8_lossy(style)))
}

/// Whether a `style` attribute hides its element.
fn hides(style: &str) -> bool {
    let style = without_comments(&style.to_ascii_lowercase());
    let style = style.replace("!important", "");
    let declared = || {
        style
            .split(';')
            .filter_map(|declaration| declaration.split_once(':'))
    };
    let clips = declared().any(|(property, value)| {
        property.trim().starts_with("overflow") && matches!(value.trim(), "hidden" | "clip")
    });
    declared().any(|(property, value)| {
        let value = value.trim();
        let nothing = || value.split([' ', '/']).next().is_some_and(is_nothing);
        match property.trim() {
            "display" => value == "none",
            "visibility" => matches!(value, "hidden" | "collapse"),
            "content-visibility" => value == "hidden",
            "font-size" | "font" | "opacity" => nothing(),
            "width" | "height" | "max-width" | "max-height" => clips && nothing(),
            _ => false,
        }
    })
}

/// Whether a value is zero, with any unit: `0`, `0px`, `.00em`.
fn is_nothing(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    number.parse::<f64>().is_ok_and(|number| number.abs() < 0.01)
}

fn without_comments(style: &str) -> String {
    let mut kept = String::new();
    let mut rest = style;
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept + rest
}
