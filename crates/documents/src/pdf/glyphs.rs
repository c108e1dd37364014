//! Letters of the codes and glyph names in a PDF's simple fonts.
//!
//! Owns: the format's named encodings, TeX's own, and names of glyphs. Never: reading a font's
//! program.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use encoding_rs::{MACINTOSH, WINDOWS_1252};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Standard,
    Windows,
    Mac,
    /// The layout of Knuth's text fonts; files with them name no encoding.
    Tex,
}

/// 0xA1 to 0xFB of the standard encoding; a dot marks an unused code.
const STANDARD: &str =
    "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ.–†‡·.¶•‚„”»…‰.¿.`´ˆ˜¯˘˙¨.˚¸.˝˛ˇ—................Æ.ª....ŁØŒº.....æ...ı..łøœß";
/// 0x00 to 0x1F of TeX's text fonts.
const TEX: &str = "ΓΔΘΛΞΠΣΥΦΨΩﬀﬁﬂﬃﬄıȷ`´ˇ˘¯˚¸ßæœøÆŒØ";

const NAMES: &str = "space  ; exclam !; quotedbl \"; numbersign #; dollar $; percent %; ampersand &; quotesingle '; quoteright ’; \
    quoteleft ‘; parenleft (; parenright ); asterisk *; plus +; comma ,; hyphen -; sfthyphen -; minus −; period .; slash /; \
    zero 0; one 1; two 2; three 3; four 4; five 5; six 6; seven 7; eight 8; nine 9; colon :; semicolon ;; less <; equal =; \
    greater >; question ?; at @; bracketleft [; backslash \\; bracketright ]; asciicircum ^; underscore _; grave `; braceleft {; \
    bar |; braceright }; asciitilde ~; exclamdown ¡; cent ¢; sterling £; fraction ⁄; yen ¥; florin ƒ; section §; currency ¤; \
    quotedblleft “; quotedblright ”; quotedblbase „; quotesinglbase ‚; guillemotleft «; guillemotright »; guilsinglleft ‹; \
    guilsinglright ›; ff ff; fi fi; fl fl; ffi ffi; ffl ffl; endash –; emdash —; dagger †; daggerdbl ‡; periodcentered ·; \
    paragraph ¶; bullet •; ellipsis …; perthousand ‰; questiondown ¿; acute ´; circumflex ˆ; tilde ˜; macron ¯; breve ˘; \
    dotaccent ˙; dieresis ¨; ring ˚; cedilla ¸; hungarumlaut ˝; ogonek ˛; caron ˇ; ordfeminine ª; ordmasculine º; copyright ©; \
    registered ®; trademark ™; degree °; plusminus ±; mu µ; onequarter ¼; onehalf ½; threequarters ¾; onesuperior ¹; \
    twosuperior ²; threesuperior ³; multiply ×; divide ÷; logicalnot ¬; brokenbar ¦; Euro €; infinity ∞; lessequal ≤; \
    greaterequal ≥; notequal ≠; approxequal ≈; summation ∑; product ∏; integral ∫; radical √; partialdiff ∂; arrowright →; \
    arrowleft ←; nbspace  ; Alpha Α; Beta Β; Gamma Γ; Delta Δ; Epsilon Ε; Zeta Ζ; Eta Η; Theta Θ; Iota Ι; Kappa Κ; Lambda Λ; \
    Mu Μ; Nu Ν; Xi Ξ; Omicron Ο; Pi Π; Rho Ρ; Sigma Σ; Tau Τ; Upsilon Υ; Phi Φ; Chi Χ; Psi Ψ; Omega Ω; alpha α; beta β; gamma γ; \
    delta δ; epsilon ε; zeta ζ; eta η; theta θ; iota ι; kappa κ; lambda λ; nu ν; xi ξ; omicron ο; pi π; rho ρ; sigma σ; tau τ; \
    upsilon υ; phi φ; chi χ; psi ψ; omega ω; \
    Agrave À; Aacute Á; Acircumflex Â; Atilde Ã; Adieresis Ä; Aring Å; Ccedilla Ç; Egrave È; Eacute É; \
    Ecircumflex Ê; Edieresis Ë; Igrave Ì; Iacute Í; Icircumflex Î; Idieresis Ï; Ntilde Ñ; Ograve Ò; Oacute Ó; \
    Ocircumflex Ô; Otilde Õ; Odieresis Ö; Ugrave Ù; Uacute Ú; Ucircumflex Û; Udieresis Ü; Yacute Ý; agrave à; \
    aacute á; acircumflex â; atilde ã; adieresis ä; aring å; ccedilla ç; egrave è; eacute é; ecircumflex ê; \
    edieresis ë; igrave ì; iacute í; icircumflex î; idieresis ï; ntilde ñ; ograve ò; oacute ó; ocircumflex ô; \
    otilde õ; odieresis ö; ugrave ù; uacute ú; ucircumflex û; udieresis ü; yacute ý; ydieresis ÿ; Amacron Ā; \
    amacron ā; Abreve Ă; abreve ă; Aogonek Ą; aogonek ą; Cacute Ć; cacute ć; Ccircumflex Ĉ; ccircumflex ĉ; \
    Cdotaccent Ċ; cdotaccent ċ; Ccaron Č; ccaron č; Dcaron Ď; dcaron ď; Emacron Ē; emacron ē; Ebreve Ĕ; ebreve ĕ; \
    Edotaccent Ė; edotaccent ė; Eogonek Ę; eogonek ę; Ecaron Ě; ecaron ě; Gcircumflex Ĝ; gcircumflex ĝ; Gbreve Ğ; \
    gbreve ğ; Gdotaccent Ġ; gdotaccent ġ; Gcedilla Ģ; gcedilla ģ; Hcircumflex Ĥ; hcircumflex ĥ; Itilde Ĩ; itilde ĩ; \
    Imacron Ī; imacron ī; Ibreve Ĭ; ibreve ĭ; Iogonek Į; iogonek į; Idotaccent İ; Jcircumflex Ĵ; jcircumflex ĵ; \
    Kcedilla Ķ; kcedilla ķ; Lacute Ĺ; lacute ĺ; Lcedilla Ļ; lcedilla ļ; Lcaron Ľ; lcaron ľ; Nacute Ń; nacute ń; \
    Ncedilla Ņ; ncedilla ņ; Ncaron Ň; ncaron ň; Omacron Ō; omacron ō; Obreve Ŏ; obreve ŏ; Ohungarumlaut Ő; \
    ohungarumlaut ő; Racute Ŕ; racute ŕ; Rcedilla Ŗ; rcedilla ŗ; Rcaron Ř; rcaron ř; Sacute Ś; sacute ś; \
    Scircumflex Ŝ; scircumflex ŝ; Scedilla Ş; scedilla ş; Scaron Š; scaron š; Tcedilla Ţ; tcedilla ţ; Tcaron Ť; \
    tcaron ť; Utilde Ũ; utilde ũ; Umacron Ū; umacron ū; Ubreve Ŭ; ubreve ŭ; Uring Ů; uring ů; Uhungarumlaut Ű; \
    uhungarumlaut ű; Uogonek Ų; uogonek ų; Wcircumflex Ŵ; wcircumflex ŵ; Ycircumflex Ŷ; ycircumflex ŷ; Ydieresis Ÿ; \
    Zacute Ź; zacute ź; Zdotaccent Ż; zdotaccent ż; Zcaron Ž; zcaron ž; AE Æ; ae æ; OE Œ; oe œ; Oslash Ø; oslash ø; \
    germandbls ß; Eth Ð; eth ð; Thorn Þ; thorn þ; Lslash Ł; lslash ł; dotlessi ı; Dcroat Đ; dcroat đ; \
    scommaaccent ș; Scommaaccent Ș; tcommaaccent ț; Tcommaaccent Ț";

static BY_NAME: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    // The separator is before a blank, so that a semicolon can be an entry.
    let entries = NAMES
        .split("; ")
        .filter_map(|entry| entry.trim_start().split_once(' '));
    entries
        .map(|(name, text)| (name, if text.is_empty() { " " } else { text }))
        .collect()
});

/// The text of a code in an encoding; `None` if it has none.
pub(super) fn by_code(base: Base, code: u8) -> Option<String> {
    let nth = |table: &str, from: u8| table.chars().nth(usize::from(code.checked_sub(from)?));
    let special = match (base, code) {
        (Base::Windows, _) => return letters(&WINDOWS_1252.decode_without_bom_handling(&[code]).0),
        (Base::Mac, _) => return letters(&MACINTOSH.decode_without_bom_handling(&[code]).0),
        (_, b'\'') => Some('’'),
        (_, b'`') => Some('‘'),
        (Base::Tex, 0..0x20) => nth(TEX, 0),
        (Base::Tex, b'"') => Some('”'),
        (Base::Tex, b'\\') => Some('“'),
        (Base::Tex, b'<') => Some('¡'),
        (Base::Tex, b'>') => Some('¿'),
        (Base::Tex, b'{') => Some('–'),
        (Base::Tex, b'|') => Some('—'),
        (Base::Standard, 0xa1..) => nth(STANDARD, 0xa1).filter(|letter| *letter != '.'),
        (_, 0x20..0x7f) => Some(char::from(code)),
        _ => None,
    };
    letters(&special?.to_string())
}

/// The text of a glyph's name: a known name, `uni00E9`, `u1F600`, or either with a suffix after a dot.
pub(super) fn by_name(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let name = name.split('.').next().filter(|name| !name.is_empty())?;
    if let Some(text) = BY_NAME.get(name) {
        return Some((*text).to_owned());
    }
    let mut chars = name.chars();
    if let (Some(letter), None) = (chars.next(), chars.next()) {
        return Some(letter.to_string());
    }
    if name.contains('_') {
        return name.split('_').map(|part| by_name(part.as_bytes())).collect();
    }
    let digits = name
        .strip_prefix("uni")
        .filter(|digits| digits.len() == 4)
        .or_else(|| name.strip_prefix('u'))?;
    u32::from_str_radix(digits, 16)
        .ok()
        .filter(|_| digits.len() >= 4)
        .and_then(char::from_u32)
        .map(|letter| letter.to_string())
}

/// Text with its ligatures split and without control characters; none if it is empty then.
pub(super) fn letters(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars().filter(|letter| !letter.is_control()) {
        match letter {
            'ﬀ' => plain.push_str("ff"),
            'ﬁ' => plain.push_str("fi"),
            'ﬂ' => plain.push_str("fl"),
            'ﬃ' => plain.push_str("ffi"),
            'ﬄ' => plain.push_str("ffl"),
            '\u{a0}' => plain.push(' '),
            '\u{ad}' => plain.push('-'),
            letter => plain.push(letter),
        }
    }
    (!plain.is_empty()).then_some(plain)
}
