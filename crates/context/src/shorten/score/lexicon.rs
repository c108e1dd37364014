//! Words that show the purpose of a sentence, by language.
//!
//! Owns: the tables and how a word is found. Never: a grammar; a table is short, and a language without one loses a hint,
//! not a message.

/// Words of one meaning, in lower case, separated by `|`. Those of `words` match as whole words, those of `parts`, for
/// scripts without spaces, anywhere.
#[derive(Debug)]
pub struct CueWords {
    words: &'static str,
    parts: &'static str,
}

/// Something was settled.
pub const DECISION: CueWords = CueWords {
    words: "decided|decision|we agreed|agreed to|agreed on|chose|going with|settled on|we will use|we'll use|\
            entschieden|entscheidung|beschlossen|wir nehmen|einigten uns|décidé|décision|convenu|nous utiliserons|choisi|\
            decidido|decidimos|decisión|acordamos|usaremos|deciso|decisione|decidiu|решили|решено",
    parts: "决定|決定|决策|选定|決めた|決めました|にします|결정",
};

/// Something went wrong.
pub const ERROR: CueWords = CueWords {
    words: "error|errors|failed|fails|failure|exception|crash|crashed|bug|broken|fehler|fehlgeschlagen|abgestürzt|kaputt|\
            erreur|échec|échoué|plantage|fallo|falló|excepción|errore|erro|falha|ошибка|сбой",
    parts: "错误|錯誤|失败|失敗|异常|エラー|例外|バグ|오류|실패",
};

/// It matters, or it binds.
pub const IMPORTANT: CueWords = CueWords {
    words: "important|critical|crucial|must|never|always|required|wichtig|kritisch|muss|müssen|niemals|nie|immer|\
            essentiel|doit|jamais|toujours|importante|crítico|debe|nunca|siempre|deve|sempre|важно|никогда",
    parts: "重要|关键|必须|必須|绝不|不要|总是|必ず|絶対|禁止|중요",
};

/// Still to be done.
pub const OPEN: CueWords = CueWords {
    words: "to do|need to|needs to|next step|remaining|muss noch|müssen noch|noch zu|nächster schritt|offen|à faire|\
            il faut|reste à|pendiente|hay que|falta|da fare|нужно|осталось",
    parts: "待办|需要|下一步|还要|やること|残り|次に|해야",
};

/// It gives a reason.
pub const REASON: CueWords = CueWords {
    words: "because|reason|since|weil|grund|deshalb|parce que|raison|porque|razón|perché|потому",
    parts: "因为|因為|原因|所以|なぜなら|理由|때문",
};

impl CueWords {
    /// Whether one of them is in the text, which is in lower case.
    pub fn found_in(&self, lower: &str) -> bool {
        self.parts.split('|').any(|part| lower.contains(part))
            || self.words.split('|').any(|word| is_word_in(lower, word))
    }
}

fn is_word_in(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    })
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
