//! Labels of a text: a few words for its subject.
//!
//! Owns: counting words, and bigrams in scripts without spaces; the words without meaning. Never: a language model's
//! idea of a topic.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::LABELS_MAX;

/// Minimum number of times that a label occurs in the text.
const REPEATED: usize = 2;
const WORD_MIN_CHARS: usize = 3;
const WORD_MAX_CHARS: usize = 40;

/// Words of English, Spanish, French, German, Portuguese and Italian that carry no topic.
const STOP: &str = "about above after again all also and any are because been before being between both but can cannot could did \
    does doing down during each even every few for from further get had has have having her here hers him his how into its itself \
    just may might more most much must not now off once one only onto other our ours out over own per same she should since some \
    such than that the their theirs them then there these they this those through too two under until upon use used uses using \
    very via was well were what when where whether which while who whom whose why will with within without would yet you your \
    yours http https www com org \
    algo aunque cada como con contra cual cuando del desde donde dos ella ellas ellos entre era eran esa ese eso esta este esto \
    está están fue fueron hace han hasta hay las les los más mientras muy nos otra otro para pero poco por porque que quien ser \
    sin sobre son sus también tanto tiene todo todos una uno unos usted \
    alors aucun aussi autre aux avec avoir car ces cet cette ceux chaque comme dans des donc elle elles est été être eux fait \
    faire ici ils leur leurs lors lui mais même mes moins mon nous ont par parce pas peu peut plus pour pourquoi quand quel quelle \
    qui sans ses sont sous sur tous tout toute très une vos votre vous \
    aber alle allem allen aller alles als also andere auch auf aus bei beim bis das dass dem den denn der des deshalb dich die \
    dies diese diesem diesen dieser dieses dir doch dort durch ein eine einem einen einer eines für gegen haben hat hatte hier \
    hinter ich ihm ihn ihnen ihr ihre ist jede jeder jedes jetzt kann kein keine können man mehr mein mich mit muss nach nicht \
    nichts noch nur oder ohne sehr sein seine sich sie sind soll sollte über und uns unser unter vom von vor wann war waren warum \
    was weil wenn wer werden wie wieder wird wir wurde zum zur zwischen \
    ainda até das dela dele depois dos elas eles entre essa esse esta este foi foram isso isto mais mas mesmo muito não nas nem \
    nos pela pelo pode porque qual quando que quem seu sua são também tem uma você \
    agli alla alle anche ancora aveva che chi come così dai dal dalla degli dei del della delle dopo dove essere gli hanno loro \
    negli nei nel nella nelle noi non ogni per perché più poi può quale quando quella quello questa questi questo sei sia siamo \
    sono stata stato sua sue sugli sul sulla suo tra tutti tutto una";

static STOP_WORDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| STOP.split_whitespace().collect());

/// The most frequent words of `text`, at most [`LABELS_MAX`]: by frequency, then by first place.
pub(crate) fn of(text: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut place = 0;
    let mut count = |word: String| {
        place += 1;
        seen.entry(word).or_insert((0, place)).0 += 1;
    };
    // An address is no word.
    let words = text
        .split_whitespace()
        .map(|word| word.split("](").next().unwrap_or(word))
        .filter(|word| !word.contains("://"));
    for run in words.flat_map(|word| word.split(|c: char| !(c.is_alphanumeric() || "_'’".contains(c)))) {
        let run = run.trim_matches(['_', '\'', '’']);
        if run.chars().any(sets_no_spaces) {
            bigrams(run, &mut count);
            continue;
        }
        let length = run.chars().count();
        if !(WORD_MIN_CHARS..=WORD_MAX_CHARS).contains(&length) || !run.chars().any(char::is_alphabetic) {
            continue;
        }
        let word = run.to_lowercase();
        if !STOP_WORDS.contains(word.as_str()) {
            count(word);
        }
    }
    let mut labels: Vec<_> = seen
        .into_iter()
        .filter(|(_, (times, _))| *times >= REPEATED)
        .collect();
    labels.sort_by_key(|(_, (times, place))| (usize::MAX - times, *place));
    labels
        .into_iter()
        .map(|(word, _)| word)
        .take(LABELS_MAX)
        .collect()
}

fn bigrams(run: &str, count: &mut impl FnMut(String)) {
    let chars: Vec<char> = run.chars().collect();
    for pair in chars.windows(2) {
        if pair
            .iter()
            .all(|c| sets_no_spaces(*c) && !('\u{3040}'..='\u{309f}').contains(c))
        {
            count(pair.iter().collect());
        }
    }
}

/// Whether a script has no spaces: Han, kana and their extensions, not Hangul. Pairs with hiragana,
/// mostly grammar, are no labels.
fn sets_no_spaces(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}
