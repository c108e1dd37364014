//! An enum whose values have one word each.
//!
//! Owns: the word of a value, and the value of a word. Never: the words.

/// Declares an enum with a word beside each value: `Draft = "draft"`. It has `ALL`, the values in their order, `as_str`, the word of a
/// value, and `parse`, the value of a word.
#[macro_export]
macro_rules! worded {
    (
        $(#[$about:meta])*
        $vis:vis enum $name:ident {
            $($(#[$of_value:meta])* $value:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        $vis enum $name {
            $($(#[$of_value])* $value,)+
        }

        #[allow(dead_code, reason = "not every enum is listed and read back")]
        impl $name {
            /// Every value, in the order of the declaration.
            $vis const ALL: [Self; [$($word),+].len()] = [$(Self::$value),+];

            /// The word of this value.
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }

            /// The value of that word.
            $vis fn parse(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == word)
            }
        }
    };
}

/// The value of the same name in another enum: `same!(status, RunStatus => RunState: Queued, Running)`.
#[macro_export]
macro_rules! same {
    ($value:expr, $from:ident => $to:ident: $($name:ident),+) => {
        match $value {
            $($from::$name => $to::$name,)+
        }
    };
}

#[cfg(test)]
mod tests {
    worded! {
        #[derive(Debug, Clone, Copy, PartialEq)]
        enum Light {
            Red = "stop",
            Green = "go",
        }
    }

    #[test]
    fn a_value_and_its_word_lead_to_each_other() {
        assert_eq!(Light::ALL.map(Light::as_str), ["stop", "go"]);
        assert_eq!(
            ["go", "stop", "Go"].map(Light::parse),
            [Some(Light::Green), Some(Light::Red), None]
        );
    }
}
