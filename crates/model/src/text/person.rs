//! First-person pronouns in many languages.
//!
//! Owns: these pronouns, folded; none that is another word in English. Never: the meaning of the
//! rest of a sentence.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Pronouns of the first person as the subject of a sentence, and verbs that need no pronoun.
const SUBJECTS: &str = "\
    i myself we ich wir yo nosotros soy tengo je j nous io eu ik wij ja mam jag vi я мы ben bana biz \
    أنا لي نحن मैं मुझे हम 나는 내가 저는 제가 나 저 우리 우리는 saya aku kami toi tôi";
/// Possessive pronouns of the first person.
const POSSESSIVES: &str = "\
    my mine our ours mein meine meinem meinen meiner meines unser unsere unserem unseren mi mis nuestra nuestro mon ma mes notre nos \
    mio mia miei mie meu meus minha minhas mijn onze moj moja moje mojego mojej mitt mina \
    мой моя мое мои моего моей моему моих у benim bizim मेरा मेरी मेरे हमारा हमारी 내 제 우리의 나의 저의";
/// Pronouns of the first person in scripts without spaces.
const UNSPACED: [char; 4] = ['我', '私', '僕', '俺'];

/// Role of a pronoun of the first person in its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstPerson {
    Subject,
    Possessive,
}

static FORMS: LazyLock<BTreeMap<&str, FirstPerson>> = LazyLock::new(|| {
    let forms = |list: &'static str, is| list.split_whitespace().map(move |form| (form, is));
    let subjects = forms(SUBJECTS, FirstPerson::Subject);
    subjects
        .chain(forms(POSSESSIVES, FirstPerson::Possessive))
        .collect()
});

/// The role of a folded word, if it is a pronoun of the first person.
pub fn first_person(word: &str) -> Option<FirstPerson> {
    FORMS.get(word).copied()
}

/// Whether a text in a script without spaces has such a pronoun.
pub fn has_unspaced_first_person(text: &str) -> bool {
    text.contains(UNSPACED)
}
