//! The words of rules, decisions and todos, open or done, in eight languages.
//!
//! Owns: the tables, and matching a sentence against them. Never: the speaker of the sentence; `voice` and `reader`
//! know it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Kind of a sentence by its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cue {
    Rule,
    Decision,
    Open,
    Done,
    Change,
    Trouble,
}

/// Alternatives by language, each at word borders; Chinese and Japanese have none. `^` is the start of a clause.
struct Table {
    words: &'static [&'static str],
    starts: &'static [&'static str],
    marks: &'static str,
}

impl Table {
    fn compile(&self) -> Regex {
        let mut sides = Vec::new();
        if !self.starts.is_empty() {
            let lead = r"(?:^|[,;:—–] ?|\. |(?-u:\b)(?:please|and|but|then|so|also|bitte|und|aber|merci de|et|mais|por favor|y|pero|per favore|e|ma|mas) )";
            sides.push(format!(
                "{lead}(?:{})(?-u:\\b{{end-half}})",
                self.starts.join("|")
            ));
        }
        sides.push(format!(
            "(?-u:\\b{{start-half}})(?:{})(?-u:\\b{{end-half}})",
            self.words.join("|")
        ));
        if !self.marks.is_empty() {
            sides.push(self.marks.to_owned());
        }
        Regex::new(&format!("(?i){}", sides.join("|")))
            .expect("the tables are fixed and a test compiles them")
    }
}

const RULE: Table = Table {
    words: &[
        // English
        "never|always|must|mustn['’]t|from now on|at all times|under no circumstances|in no case|without exception|forbidden|prohibited",
        r"off[- ]limits|not allowed|mandatory|shall(?: not)?|should(?: never| not|n['’]t| always| only)|may not|use only|make sure|ensure(?: that)?",
        r"(?:you|we) (?:can ?not|can['’]t) (?:use|touch|change|ship|add|break|modify|edit|remove|introduce)|no matter what|strictly|required to|is required",
        r"i prefer|i['’]d rather|only (?:use|touch|edit|change|write|commit|run|deploy|reply|answer|modify|when|after|ever|work|add|read)|needs? to (?:stay|remain)|has to (?:stay|remain|be)",
        r"use [^.]* (?:instead of|rather than|not|over)|(?:keep|limit|cap|stay|leave) [^.]* (?:under|below|within|at most|as is|unchanged|untouched|alone)",
        r"hands off|read[- ]only|(?:don['’]t|do not) want (?:you|us|anyone)|stays? as (?:it|they) (?:is|are)|(?:is|are|stays?) frozen|stay (?:away|out)|(?:need|require)s? my|ask me (?:first|before)|without (?:asking|my)",
        // German
        "nie|niemals|immer|stets|muss|müssen|musst|darf(?:st)? (?:nicht|nie|nur|kein)|dürfen (?:nicht|nie|nur|keine?)|ab (?:jetzt|sofort)|von (?:jetzt|nun) an|künftig",
        r"ich bevorzuge|tabu|in ruhe (?:lassen|zu lassen)|finger weg|verboten|auf keinen fall|unter keinen umständen|grundsätzlich|ausschließlich|nur (?:noch|mit|in|nach|über)|nicht [^.,]*(?:en|ern|eln)[.!]?$|kein(?:e|en|er|es)? [^.,]* [^.,]*(?:en|ern|eln)[.!]?$",
        // French
        "je préfère|on ne touche|ne (?:pas )?touche[rz]?|jamais|toujours|il (?:ne )?faut|doit|doivent|devez|interdite?s?|à partir de maintenant|désormais|dorénavant|uniquement|en aucun cas|sous aucun prétexte|obligatoire(?:ment)?|seulement",
        // Spanish, Portuguese
        "prefiero|nunca|jamás|siempre|deben?|debes|hay que|tienes? que|a partir de (?:ahora|agora)|de ahora en adelante|prohibido|bajo ningun[ao]? [a-zà-ÿ]+|en ningún caso|únicamente|solamente|obligatori[oa]",
        "prefiro|jamais|sempre|devem?|deves|é preciso|tem que|daqui em diante|proibido|em hipótese alguma|em nenhum(?:a)? [a-zà-ÿ]+|somente|apenas",
        // Italian
        "preferisco|mai|devono|devi|deve|bisogna|occorre|d['’]ora in (?:poi|avanti)|da ora in poi|vietato|proibito|in nessun caso|per nessun motivo|soltanto|solamente|esclusivamente",
    ],
    starts: &[
        "do not|don['’]t|dont|avoid|refrain from|only|no more than|no (?:new|more|additional|extra|external|other|further|breaking|unsafe|hard-?coded|global|third[- ]party|changes?|comments?|deps|dependencies|emojis?|mocks?|hacks?|force|direct|magic)|stop [a-z]+ing|stick (?:to|with)|prefer|keep|leave|at most|at least|treat|remember",
        "kein(?:e|en|er|es)?|nur|verwende|benutze?|vermeide",
        "ne|n['’][a-zà-ÿ]+|évite[rz]?|pas de|utilise[rz]?|n['’]utilise[rz]?",
        r"no [a-záéíóúñ]+(?:as|es|emos|an|en|éis)|evit[ae]r?|solo|sólo|usa(?:r)? (?:solo|siempre)|não [a-zà-ÿ]+|só|use (?:sempre|apenas)",
        "non [a-zà-ÿ]+|solo|usa (?:sempre|solo)|evita(?:re)?",
    ],
    marks: "偏好|以后都|好みます|不要|不得|不能|不许|不許|不准|禁止|切勿|请勿|請勿|严禁|必须|必須|务必|務必|始终|始終|总是|總是|永远|永遠|只能|只用|只使用|只允许|从现在起|从现在开始|從現在起|今后|一律|不可以|一定要|千万别|千萬別|别碰|勿动|触らない|触れない|変更不可|别再|勿|しないで|ないでください|必ず|常に|絶対に|決して|今後は|これからは|てはいけ|てはなりません|てはならない|しないこと|こと。?$|のみ(?:使|を|に|で)|だけ(?:使|を使|にして)",
};

/// Phrases that only look like rules; removed before matching.
const NO_RULE: &str = r"(?i)(?-u:\b{start-half})(?:never ?mind|(?:i|it|he|she|they|has|have|had|was|were|is|are|that|which|this) (?:(?:'ve|'d) )?(?:never|always)|as always|must have|must be (?:late|wrong|joking|missing something)|i must|no (?:problem|worries|thanks|thank|idea|need|rush|one|doubt|longer|luck|wonder|response|output)|(?:don['’]t|do not) (?:know|think|understand|see|worry|have|remember)|(?:muss|müssen) noch|doit encore|deve ancora|still must|keep (?:an eye|track|me posted|going|in mind|it up|up)|remember (?:when|that time)|always (?:been|wanted|thought)|immer noch|ich muss|wie immer|est toujours|ai toujours|toujours pas|je (?:ne|n)|no (?:sé|hay|es|está|me|se|lo)|não (?:sei|há|é|está)|non (?:so|è|c['’]è|ho)|come sempre|como siempre|como sempre|mai visto|leave it to)(?-u:\b{end-half})|不要紧|不要緊|特别|分别|个别|区别|级别|ことがあり|ことができ";

const DECISION: Table = Table {
    words: &[
        r"decided?|decision|we['’]ll (?:go|use|take|keep|stay|store|call)|(?:going|go|went|gone) (?:with|for)|opt(?:ed|ing)? for|chose|chosen|choose|settled? (?:on|for)|agreed|let['’]s (?:use|go|take|keep|stick|do|store|call)",
        r"will use|switch(?:ed|ing)? to|stick(?:ing)? with|approach:|solution:|conclusion|we(?:['’]re| are) using|the plan is|picked|final answer|resolved to|i(?:['’]d| would) (?:go with|pick|take)|in favou?r of|(?:adopt|select)(?:ed|ing)|instead of|rather than",
        r"entschieden|entscheidung|wir (?:nehmen|verwenden|nutzen|machen|bleiben|setzen)|gewählt|einigen uns|geeinigt|beschlossen|festgelegt|statt(?:dessen)?",
        r"décidé|décision|choisi[se]?|on (?:part|garde|prend|utilise)|nous (?:utiliserons|gardons|prenons)|opt(?:é|ons) pour|retenue?|plutôt que|au lieu de",
        r"decidido|decidimos|decidí|decisión|elegimos|elegido|opt(?:amos|é) por|usaremos|vamos (?:a usar|con|a)|nos quedamos|en (?:lugar|vez) de",
        r"deciso|decisione|scelto|scegliamo|useremo|andiamo con|optato|invece di|decisão|escolhemos|escolhido|vamos (?:usar|com|de)|ficamos com|em vez de|ao invés de",
    ],
    starts: &[],
    marks: "决定|決定|选择|選擇|选定|采用|採用|改用|就用|定为|确定用|敲定|决策|決めました|決めた|に決め|にします|ことにし|を使うことに|選びました",
};

const OPEN: Table = Table {
    words: &[
        r"to-?do|fix-?me|still (?:need|have|has|needs|missing|open|to)|remains? to|remaining|left to do|next steps?|follow[- ]?up|not (?:yet )?(?:done|implemented|finished)|don['’]t forget|do not forget|remember to|outstanding|later (?:we|i)|yet to|needs? to be",
        "noch (?:zu tun|offen|nicht|fehlt|machen|ausstehend)|(?:muss|müssen|fehlt|fehlen|bleibt) noch|nicht vergessen|vergiss nicht|als nächstes|offene punkte",
        "reste (?:à|encore)|il reste|à faire|n['’]oublie[rz]?|prochaine étape|pas encore|falta|faltan|queda(?:n)? por|pendientes?|por hacer|no (?:te )?olvid[a-zà-ÿ]+|siguiente paso",
        "resta da|rimane da|da fare|manca(?:no)? ancora|non dimenticare|prossimo passo|ainda (?:precisa|falta|temos|não)|por fazer|não (?:se )?esque[a-zà-ÿ]+|próximo passo",
    ],
    starts: &["later|afterwards|next"],
    marks: "待办|待辦|还需要|還需要|还要|尚未|未完成|下一步|别忘了|別忘了|记得|還沒|还没|残り|未対応|忘れず|あとで|後で|やること|まだ.{0,12}ていない|次に",
};

const DONE: Table = Table {
    words: &[
        r"done|finished|completed?|implemented|fixed|resolved|merged|landed|added|is in place|works now|now works|passes|erledigt|fertig|umgesetzt|behoben|terminée?s?|corrigée?|ajoutée?|c['’]est fait",
        "hecho|listo|terminado|corregido|añadido|completado|fatto|completato|corretto|aggiunto|feito|pronto|concluíd[oa]|corrigido|adicionado",
    ],
    starts: &[],
    marks: "✅|✔|☑|完成了|已完成|搞定|已修复|已添加|好了|完了|済み|終わりました|修正しました|追加しました",
};

const CHANGE: Table = Table {
    words: &[
        r"new task|new goal|change of plan|changed my mind|actually,|forget (?:that|about)|let['’]s (?:switch|move on|now)|now (?:i|we|let['’]s|please|that)|next,|neue aufgabe|doch lieber|nouvelle tâche|changement de plan|nueva tarea|cambio de planes|nuovo compito|nova tarefa|mudança de planos",
    ],
    starts: &["instead|stattdessen|plutôt|en su lugar|invece|em vez disso"],
    marks: "改为|新任务|换个|算了|新しいタスク|やっぱり|代わりに",
};

const TROUBLE: Table = Table {
    words: &[
        r"[a-z.]*(?:error|exception)|fails?|failed|failing|failure|crash(?:es|ed|ing)?|broken|panics?|panicked|bug|segfault|fehler|schlägt fehl|abgestürzt|kaputt|erreur|échoue|plante|fallo|falla|errore|fallisce|erro|falha",
    ],
    starts: &[],
    marks: "报错|錯誤|错误|失败|失敗|崩溃|エラー|クラッシュ",
};

static TABLES: LazyLock<[Regex; 6]> =
    LazyLock::new(|| [RULE, DECISION, OPEN, DONE, CHANGE, TROUBLE].map(|table| table.compile()));
static NOT_RULE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(NO_RULE).expect("the table is fixed and a test compiles it"));

/// Whether a sentence has a cue of this kind.
pub(crate) fn has(cue: Cue, sentence: &str) -> bool {
    TABLES[cue as usize].is_match(sentence)
}

/// Places of the words that make a sentence a rule; none in a question.
pub(crate) fn rules(sentence: &str) -> Vec<Range<usize>> {
    if sentence
        .trim_end_matches(['"', '”', ')', '*'])
        .ends_with(['?', '？'])
    {
        return Vec::new();
    }
    let rules = &TABLES[Cue::Rule as usize];
    let mut found: Vec<Range<usize>> = rules.find_iter(sentence).map(|found| found.range()).collect();
    if !found.is_empty() {
        let none: Vec<Range<usize>> = NOT_RULE.find_iter(sentence).map(|found| found.range()).collect();
        found.retain(|rule| {
            !none
                .iter()
                .any(|none| none.start < rule.end && rule.start < none.end)
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_eight_languages() {
        for rule in [
            "Never push to main.",
            "Please don't touch vendor/.",
            "Use tabs instead of spaces.",
            "All handlers must be idempotent.",
            "From now on answer in French.",
            "I prefer tabs over spaces.",
            "Prefiero las pestañas.",
            "Only edit files under src.",
            "No new dependencies.",
            "Keep functions under 40 lines.",
            "Niemals auf main pushen.",
            "Bitte die Migrationen nicht anfassen.",
            "Keine neuen Abhängigkeiten.",
            "Ab jetzt nur auf Deutsch.",
            "Ne modifie pas les tests.",
            "Il faut toujours lancer les tests.",
            "Évite les macros.",
            "Désormais, réponds en anglais.",
            "Nunca borres la tabla.",
            "No toques la rama principal.",
            "A partir de ahora usa pnpm.",
            "Solo archivos de src.",
            "Non modificare i test.",
            "Usa sempre il fuso UTC.",
            "D'ora in poi rispondi in italiano.",
            "Não altere o esquema.",
            "Sempre rode os testes.",
            "不要修改数据库。",
            "必须先备份。",
            "从现在起只用中文。",
            "絶対に本番に触らないでください。",
            "必ずテストを実行すること。",
        ] {
            assert!(!rules(rule).is_empty(), "{rule}");
        }
    }

    #[test]
    fn talk_that_is_no_rule() {
        for talk in [
            "Never mind.",
            "I never saw that before.",
            "I don't know why.",
            "It has always been slow.",
            "No problem, thanks.",
            "Must we use Redis?",
            "There are no errors.",
            "Ich muss gleich los.",
            "Das ist immer noch kaputt.",
            "No sé qué pasa.",
            "这个问题特别奇怪。",
            "The tests pass.",
            "Can you look at the parser",
        ] {
            assert!(rules(talk).is_empty(), "{talk}");
        }
    }

    #[test]
    fn other_cues() {
        for (cue, sentence) in [
            (Cue::Decision, "We decided on Postgres"),
            (Cue::Decision, "Wir nehmen SQLite"),
            (Cue::Decision, "我们决定采用方案二"),
            (Cue::Open, "We still need to write the docs"),
            (Cue::Open, "Il reste la migration"),
            (Cue::Open, "还需要写测试"),
            (Cue::Done, "The docs are done"),
            (Cue::Change, "Actually, let's do the CLI"),
            (Cue::Trouble, "I get a TypeError here"),
        ] {
            assert!(has(cue, sentence), "{sentence}");
            assert!(!has(cue, "The sky over the harbour was grey"));
        }
    }
}
