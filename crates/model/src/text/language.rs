//! The language of a text, as far as stems and stop words depend on it.
//!
//! Owns: guessing it from a text's commonest words, stemming, stop words. Never: word boundaries,
//! which are the same in every language. A text of any other language counts as English, whose
//! stemmer leaves other scripts alone.

use std::borrow::Cow;
use std::sync::LazyLock;

use foldhash::HashMap;
use rust_stemmers::{Algorithm, Stemmer};

use crate::text::words::each_word;

/// A language with a stemmer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    English,
    French,
    German,
    Italian,
    Portuguese,
    Spanish,
}

/// Maximum bytes of a text that are read to find its language.
const READ_BYTES_MAX: usize = 400;

/// For each stop word, a bit for each language that has it.
static LANGUAGES_OF: LazyLock<HashMap<&str, u8>> = LazyLock::new(|| {
    let mut languages_of: HashMap<&str, u8> = HashMap::default();
    for language in Language::ALL {
        for word in language.stop_words().split_whitespace() {
            *languages_of.entry(word).or_default() |= 1 << language as u8;
        }
    }
    for word in UNSPACED.split_whitespace() {
        languages_of.insert(word, u8::MAX);
    }
    languages_of
});

/// Chinese and Japanese pronouns, question words and particles, as single characters and as the
/// pairs that words become.
const UNSPACED: &str = "\
    我 你 您 他 她 它 们 的 了 是 在 有 和 与 也 就 都 还 很 这 那 哪 什 么 怎 吗 呢 吧 啊 呀 几 谁 个 为 把 被 对 从 于 或 但 而 不 没 会 能 要 着 \
    們 與 還 這 麼 嗎 幾 誰 個 為 從 沒 會 里 裡 多少 时候 時候 现在 \
    私 何 僕 俺 彼 です ます まし した して てい いる いま ませ せん から まで この その あの どの これ それ あれ どれ ここ そこ どこ だれ \
    いつ なに なん ない よう こと もの すか たか には では とは のは のに って くだ ださ さい しょ ょう てく れる られ";

/// Japanese particles, which occur next to such a character.
const PARTICLES: &str = "はがをにのでともへかねよ";

/// Whether each character of a pair is a function word.
fn is_function_pair(word: &str) -> bool {
    let is_one = |c: char| LANGUAGES_OF.contains_key(c.encode_utf8(&mut [0; 4]) as &str);
    !word.is_ascii() && word.chars().any(is_one) && word.chars().all(|c| is_one(c) || PARTICLES.contains(c))
}

impl Language {
    /// Every language, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::English,
        Self::French,
        Self::German,
        Self::Italian,
        Self::Portuguese,
        Self::Spanish,
    ];

    /// The language with most stop words in a text: at least a quarter of its words, not all of
    /// them, and not one alone among many. English if no language leads, and also if letters are
    /// Vietnamese, which looks like Italian without marks. Marks that only Spanish has are enough.
    pub fn of(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(READ_BYTES_MAX)];
        if text.contains(is_vietnamese) {
            return Self::English;
        }
        if text.contains(['¿', '¡']) {
            return Self::Spanish;
        }
        let (mut counts, mut words) = ([0_u32; Self::ALL.len()], 0);
        each_word(text, |_, word| {
            words += 1;
            // A single letter may be a name, a unit or a part of an address.
            if let Some(languages) = LANGUAGES_OF.get(word).filter(|_| word.len() > 1) {
                for (count, language) in counts.iter_mut().zip(Self::ALL) {
                    *count += u32::from(language.is_in(*languages));
                }
            }
        });
        let count = |language: Self| counts[language as usize];
        let more = |one: Self, other: Self| if count(other) > count(one) { other } else { one };
        let most = Self::ALL.into_iter().fold(Self::English, more);
        let found = count(most);
        let is_likely = found * 4 >= words && found < words && (found > 1 || words <= 3);
        if is_likely { most } else { Self::English }
    }

    /// The stem of a folded word; words with other characters than plain letters stay as they are.
    pub fn stem(self, word: &str) -> Cow<'_, str> {
        if word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase()) {
            return Stemmer::create(self.algorithm()).stem(word);
        }
        Cow::Borrowed(word)
    }

    /// Whether a folded word is too common to search for.
    pub fn is_stop_word(self, word: &str) -> bool {
        match LANGUAGES_OF.get(word) {
            Some(languages) => self.is_in(*languages),
            None => is_function_pair(word),
        }
    }

    /// Whether the bit of this language is set.
    fn is_in(self, languages: u8) -> bool {
        languages >> self as u8 & 1 == 1
    }

    fn algorithm(self) -> Algorithm {
        match self {
            Self::English => Algorithm::English,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Italian => Algorithm::Italian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Spanish => Algorithm::Spanish,
        }
    }

    /// Its commonest words, folded: without accents.
    fn stop_words(self) -> &'static str {
        match self {
            Self::English => {
                "a about after all am an and any are as at be been before being but by can could did do does doing don \
                 for from had has have having he her hers him his how i if in into is it its just me my no not of on \
                 or our ours out s she should so some such t than that the their them then there these they this \
                 those to too up us very was we were what when where which while who whom why will with would you \
                 your yours"
            }
            Self::French => {
                "a ai aux au avait avec avez avoir avons ca car ce cela ces cet cette chez comme comment dans de \
                 depuis des dont du elle elles en encore entre es est et etaient etais etait ete etes etre eu fait il \
                 ils je la le les leur leurs lui ma mais me meme mes moi mon ne nos notre nous on ont ou \
                 par pas peut plus pour pourquoi quand que quel quelle quelles quels qui quoi sa sans se sera ses \
                 si son sont sous suis sur ta te tes toi ton tous tout toute tres tu un une va vers vos votre vous y \
                 combien laquelle lequel sommes"
            }
            Self::German => {
                "ab aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist bitte da dann \
                 das dass dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch du \
                 durch ein eine einem einen einer eines er es etwas euch euer fur gar gegen habe haben hat hatte hatten \
                 hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jetzt kann kein keine keinen konnen \
                 man mal mehr mein meine meinem meinen meiner mich mir mit muss nach nicht noch nun nur ob oder ohne \
                 schon sehr sein seine seinem seinen seiner seit sich sie sind so soll uber um und uns unser unsere \
                 unserem unseren unserer vom von vor wann war waren warum was weil welche welchem welchen welcher \
                 welches wem wen wenn wer werde werden wie wieder will wir wird wo woher wohin worden wurde wurden zu \
                 zum zur \
                 dein deinem deinen deiner hab wessen weshalb wieso wieviel womit woran worauf wovon"
            }
            Self::Italian => {
                "a abbiamo ad agli ai al alla alle allo anche ancora avere aveva che chi ci cio come con cosa cui da \
                 dai dal dalla dalle dei del della delle dello di dove due e ed era erano essere fa fra gia gli hai \
                 hanno ho i il in io la le lei li lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nella \
                 nelle nello non nostra nostre nostri nostro o ogni per perche piu poi qual quale quali quando \
                 quanto quella quelle quelli quello questa queste questi questo sara se sei senza si sia siamo sono \
                 sta stato sua sue sugli sui sul sulla sulle suo suoi te ti tra tu tua tue tuo un una uno vi voi \
                 quanta quante quanti"
            }
            Self::Portuguese => {
                "a ao aos aquela aquele as ate com como da das de dela dele deles depois do dos e ela elas ele eles em \
                 entre era eram essa esse esta estao estar estava este estou eu faz foi foram isso isto ja la lhe \
                 mais mas me mesmo meu meus mim minha minhas muito na nao nas nem no nos nossa nosso num numa o onde os \
                 ou para pela pelas pelo pelos por porque pra qual quais quando quanto que quem sao se sem ser seu seus \
                 so sobre sou sua suas tambem te tem temos tenho ter teu tinha tua tudo um uma umas uns vai voce voces \
                 aonde quanta quantas quantos"
            }
            Self::Spanish => {
                "a al algo ante aunque como con cual cuales cuando cuanto de del desde donde dos el ella ellas ellos en \
                 entre era eran eres es esa ese eso esta estaba estamos estan estar estas este esto estos estoy fue \
                 fueron habia han has hasta hay he hemos la las le les lo los mas me mi mia mio mis mucho muy nada \
                 ni no nos nosotros nuestra nuestras nuestro nuestros o otra otro para pero por porque que quien \
                 quienes se sea ser si sido sin sobre sois somos son soy su sus tambien te tengo ti tiene tienen todo \
                 todos tu tus un una unas uno unos y ya yo \
                 adonde cuanta cuantas cuantos nosotras"
            }
        }
    }
}

fn is_vietnamese(c: char) -> bool {
    matches!(c, 'đ' | 'Đ' | 'ơ' | 'Ơ' | 'ư' | 'Ư' | '\u{1ea0}'..='\u{1ef9}')
}

/// A folded word's stem, taken as English.
pub fn stem(word: &str) -> Cow<'_, str> {
    Language::English.stem(word)
}

/// Whether a folded English word is too common to search for.
pub fn is_stop_word(word: &str) -> bool {
    Language::English.is_stop_word(word)
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn a_texts_language_is_that_of_its_common_words() {
        for (text, language) in [
            ("What was in the war, and who will die?", Language::English),
            ("Los Angeles and La La Land are in the news", Language::English),
            ("Hmm.", Language::English),
            ("мама мыла раму", Language::English),
            ("Ha Noi", Language::English),
            ("Mùa hè năm ngoái gia đình tôi đi Hà Nội chơi.", Language::English),
            ("ha noi da nang", Language::English),
            ("Was war in der Mail?", Language::German),
            ("Wie heißt meine Tochter?", Language::German),
            ("¿Dónde vive mi hermana?", Language::Spanish),
            ("¿En qué trabajo?", Language::Spanish),
            ("Comment s'appelle ma fille ?", Language::French),
            ("Onde mora a minha irmã?", Language::Portuguese),
            ("Dove abita mia sorella?", Language::Italian),
        ] {
            assert_eq!(Language::of(text), language, "{text}");
        }
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (language, one, other) in [
            (Language::German, "stadte", "stadten"),
            (Language::Spanish, "trabajo", "trabajar"),
            (Language::French, "travailler", "travaillait"),
            (Language::Portuguese, "trabalhar", "trabalhava"),
            (Language::Italian, "lavorare", "lavorava"),
        ] {
            assert_eq!(language.stem(one), language.stem(other));
            assert_ne!(Language::English.stem(one), Language::English.stem(other));
        }
    }
}
