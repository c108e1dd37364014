//! Word lists of the rules: verbs of a life, states, and words without information.
//!
//! Owns: word lists and verb forms. Never: grammar.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::words::{WordList, word_list};

/// A form of a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Base,
    Third,
    Past,
    Participle,
    Ing,
}

/// Verbs with regular forms that tell what someone's life is like.
const REGULAR: &str = "live move relocate work learn graduate enroll enrol attend volunteer start finish complete join \
    retire resign own rent adopt marry divorce date propose visit travel hike camp climb bike cycle train practice \
    practise play paint record perform compose bake cook garden plant design launch open close earn receive \
    pass fail apply register book schedule cancel postpone decide switch change upgrade replace rename name use smoke \
    avoid collect watch listen subscribe injure sprain recover suffer measure turn celebrate organize organise host \
    donate sponsor manage supervise mentor coach discover save invest owe prefer like love hate enjoy dislike adore \
    support identify belong raise commute walk exercise lift meditate pray research freelance renovate crochet sign \
    accept transfer reside settle stay participate compete serve foster inherit ship publish finalize finalise \
    major specialize specialise return arrive land deploy migrate convert reschedule delay repair fix sketch \
    photograph interview hire promote welcome reach track follow favor favour celebrate park \
    report exchange trade swap downsize struggle battle remarry separate pack hand study carry try bank increase decrease shrink call unsubscribe postpone rebook push bring requalify retrain emigrate rearrange reach ditch dump delete uninstall scrap abandon shelve phase share code browse store shop vote edit blog stream rely vape wipe remove remarry install tend admin administer breed juggle translate consult ski skate sail surf dive qualify retrain fast coach";

/// Verbs with forms of their own: base, past, participle.
static IRREGULAR: LazyLock<Vec<[&str; 3]>> = LazyLock::new(|| {
    let three = |line: &'static str| <[&str; 3]>::try_from(line.split(' ').collect::<Vec<_>>());
    let verbs = include_str!("verbs.txt").lines().map(three);
    verbs.collect::<Result<_, _>>().expect("a test reads every verb")
});

/// Stems that double their last letter before an ending; irregular verbs take theirs from here too.
static DOUBLED: WordList = word_list!(
    "get quit run swim knit begin win plan stop jog commit prefer drop cut set put swap ship transfer"
);

/// Every form of every verb, with its base.
static FORMS: LazyLock<HashMap<String, (String, Form)>> = LazyLock::new(|| {
    let mut forms = HashMap::new();
    let mut add = |word: String, base: &str, form: Form| {
        forms.entry(word).or_insert_with(|| (base.to_owned(), form));
    };
    for [base, past, participle] in IRREGULAR.iter().copied() {
        add(base.to_owned(), base, Form::Base);
        add(past.to_owned(), base, Form::Past);
        add(participle.to_owned(), base, Form::Participle);
        add(ing(base), base, Form::Ing);
        add(third(base), base, Form::Third);
    }
    for base in REGULAR.split_whitespace() {
        add(base.to_owned(), base, Form::Base);
        add(past(base), base, Form::Past);
        add(ing(base), base, Form::Ing);
        add(third(base), base, Form::Third);
    }
    forms
});

/// A known verb's base and form.
pub(crate) fn verb(word: &str) -> Option<(&'static str, Form)> {
    FORMS.get(word).map(|(base, form)| (base.as_str(), *form))
}

/// The participle of a past form.
pub(crate) fn participle(word: &str) -> Option<&'static str> {
    let (base, form) = verb(word)?;
    let irregular = IRREGULAR.iter().find(|[of, ..]| *of == base);
    let known = FORMS.get_key_value(word).map(|(known, _)| known.as_str());
    let past = irregular.map_or(known, |[.., participle]| Some(*participle));
    past.filter(|_| matches!(form, Form::Past) || SAME_FORMS.contains(&word))
}

/// Base forms that are past forms too.
const SAME_FORMS: [&str; 5] = ["put", "set", "cut", "let", "split"];

fn ends_consonant_y(base: &str) -> bool {
    base.strip_suffix('y')
        .is_some_and(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']))
}

/// The form after "she".
pub(crate) fn third(base: &str) -> String {
    match base {
        "be" => return "is".to_owned(),
        "have" => return "has".to_owned(),
        _ => {}
    }
    if ends_consonant_y(base) {
        return format!("{}ies", &base[..base.len() - 1]);
    }
    let hisses = ["s", "sh", "ch", "x", "z", "o"]
        .iter()
        .any(|end| base.ends_with(end));
    format!("{base}{}", if hisses { "es" } else { "s" })
}

fn past(base: &str) -> String {
    if ends_consonant_y(base) {
        return format!("{}ied", &base[..base.len() - 1]);
    }
    format!("{base}{}", if base.ends_with('e') { "d" } else { "ed" })
}

fn ing(base: &str) -> String {
    if DOUBLED.contains(base) {
        return format!("{base}{}ing", &base[base.len() - 1..]);
    }
    match base.strip_suffix("ie") {
        Some(stem) => format!("{stem}ying"),
        None => match base
            .strip_suffix('e')
            .filter(|stem| !stem.ends_with(['e', 'o']) && stem.len() > 1)
        {
            Some(stem) => format!("{stem}ing"),
            None => format!("{base}ing"),
        },
    }
}

/// Words between subject and verb that change nothing.
pub(crate) static ADVERBS: WordList = word_list!(
    "just also really still now actually recently finally currently always usually already even then once \
     often mostly mainly officially totally absolutely definitely originally lately regularly sometimes \
     generally typically personally truly super temporarily soon"
);

/// Words that make a sentence a supposition.
pub(crate) static HYPOTHETICAL: WordList = word_list!(
    "would could should might maybe perhaps wish if unless whether supposed imagine pretend hypothetically \
     suppose supposing otherwise wouldn't couldn't shouldn't i'd we'd"
);

/// Words that make a sentence a report of someone else's words, or about the one spoken to.
pub(crate) static NOT_OWN: WordList = word_list!(
    "you your yours you're you've you'll you'd u ur said says saying told tells asked asks claims claimed \
     mentioned replied thinks believes joked according assume assuming"
);

/// Words that mark a secret; a text with one never becomes a fact.
pub(crate) static SECRETS: WordList = word_list!(
    "password passwords passphrase passcode pin secret secrets api token credential credentials ssn cvv iban \
     login otp"
);

/// Vague words; an object made of them alone means nothing.
pub(crate) static VAGUE: WordList = word_list!(
    "together thing things stuff something anything nothing everything lot lots bit way ways one ones good great nice \
     fine okay ok cool awesome amazing well sure really much many more same like just now today here there \
     too again yet question questions problem problems issue issues error errors idea ideas feeling feelings \
     look time point sense doubt doubts chance fun blast moment minute second mistake trouble kind sort \
     wonderful fantastic best wow yeah haha soon positive forward motivated strong focused busy hopeful cute beautiful \
     gorgeous lovely interesting exciting special different tough hard difficult big huge small little important successful \
     incredible stunning epic crazy wild intense decent whole certain several few various perfect such tons bunch \
     quite far each other others better real difference worth else actual particular fulfilling away \
     myself ourselves busy glad proud blessed thankful grateful lucky ready terrible close"
);

/// Nouns that mean nothing as an object, with any word before them.
pub(crate) static EMPTY_NOUNS: WordList = word_list!(
    "thing things stuff power difference impact leads turnout dreams plans vibe vibes energy journey breakthrough \
     challenges challenge opportunity opportunities connection connections bond growth success potential steps step \
     way ways fun blast lot moment moments memories fan part side support strength passion passions \
     motivation inspiration confidence courage hope joy peace balance perspective reminder reminders example attitude spirit \
     goals values purpose feelings thoughts ideas vision \
     rollercoaster adventure news heart hearts voice something anything someone everything progress advantage"
);

/// Nouns that are too general without a further word.
pub(crate) static GENERIC_NOUNS: WordList = word_list!(
    "game games book books movie movies film films show shows series song songs video videos recipe recipes collection \
     story stories place places spot spots project projects event events class classes thing person people photo photos \
     picture pictures pic pics article articles website channel group team conversation conversations chat talk"
);

/// Units and parts of time: when or how often, not what.
pub(crate) static TIME_UNITS: WordList = word_list!(
    "second seconds minute minutes hour hours day days week weeks weekend weekends month months year years morning \
     mornings afternoon afternoons evening evenings night nights tonight summer winter spring autumn season today \
     yesterday tomorrow times while ago last next past week's year's"
);

/// Whether a word names a person or animal of one's life: family, friends, colleagues, pets.
pub(crate) fn is_kin(word: &str) -> bool {
    const KIN: &str = " aunt baby bird boss boy boyfriend brother buddy cat child coach colleague cousin coworker dad daughter \
         doctor dog ex father fiancé fiancée flatmate friend girl girlfriend grandfather grandma grandmother grandpa guest \
         guy horse husband kid kitten landlord man manager mate mentor mom mother mum neighbor neighbour nephew niece \
         nurse parrot partner pet principal professor pup puppy rabbit roommate sister son spouse student teacher \
         therapist trainer uncle vet wife woman ";
    let word = word.strip_suffix("'s").unwrap_or(word);
    let singular = word.strip_suffix('s').unwrap_or(word);
    [word, singular]
        .iter()
        .any(|word| word.len() > 1 && KIN.contains(&format!(" {word} ")))
}

/// Where people and breeds are from.
pub(crate) static NATIONS: WordList = word_list!(
    "african american argentinian australian austrian bangladeshi basque belgian brazilian british bulgarian cameroonian      canadian catalan chilean chinese colombian croatian cuban czech danish dutch egyptian english estonian ethiopian      filipino finnish french german ghanaian greek hungarian icelandic indian indonesian iranian iraqi irish israeli      italian jamaican japanese jewish kenyan korean kurdish latvian lebanese lithuanian malaysian mexican moroccan      nepali nigerian norwegian pakistani palestinian peruvian polish portuguese persian romanian russian scottish      senegalese serbian slovak slovenian somali spanish sudanese swedish swiss syrian taiwanese tanzanian thai tunisian      turkish ugandan ukrainian vietnamese welsh zimbabwean"
);

/// Nouns after "my …" that are not a part of a life.
pub(crate) static ABSTRACT: WordList = word_list!(
    "question questions point guess bad opinion concern understanding assumption goodness god gosh pleasure \
     apologies apology heart mind thought thoughts turn code issue problem error day week weekend morning \
     evening night life way time feeling feelings hope hopes idea ideas advice suggestion answer request \
     message query sentence sentences paragraph function script file data prompt input output mistake fault experience view word favor"
);

/// Verbs that only weigh a thought or steer the talk.
pub(crate) static TALK: WordList = word_list!(
    "think guess feel believe know mean wonder hope suppose bet see understand agree remember forgot forget \
     noticed notice appreciate thank swear doubt figured figure heard hear thought knew felt meant assume \
     realize realise"
);
