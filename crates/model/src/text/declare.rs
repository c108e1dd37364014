//! Declarations without repetition: an enum with its words, a struct with its defaults, a `Debug`
//! of some fields.
//!
//! Owns: the forms of these declarations, and the conversions between a value and its word. Never:
//! the words, the values, or the choice of visible fields.

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

            /// The value for that word.
            $vis fn parse(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == word)
            }
        }
    };
}

/// The value with the same name in another enum:
/// `same!(status, RunStatus => RunState: Queued, Running)`.
#[macro_export]
macro_rules! same {
    ($value:expr, $from:ident => $to:ident: $($name:ident),+) => {
        match $value {
            $($from::$name => $to::$name,)+
        }
    };
}

/// Implements `Debug` of a struct by some of its fields: `shown!(HttpChat { endpoint })`.
#[macro_export]
macro_rules! shown {
    ($name:ident { $($field:ident),+ }) => {
        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let mut shown = f.debug_struct(stringify!($name));
                $(shown.field(stringify!($field), &self.$field);)+
                shown.finish_non_exhaustive()
            }
        }
    };
}

/// Declares structs with `Default`: `workers: usize = 64`. A field without a value has the default of its type.
#[macro_export]
macro_rules! defaults {
    (@) => {
        Default::default()
    };
    (@ $value:expr) => {
        $value
    };
    ($(
        $(#[$about:meta])*
        $vis:vis struct $name:ident {
            $($(#[$of_field:meta])* $field_vis:vis $field:ident: $ty:ty $(= $value:expr)?,)+
        }
    )+) => {$(
        $(#[$about])*
        $vis struct $name {
            $($(#[$of_field])* $field_vis $field: $ty,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: $crate::defaults!(@ $($value)?),)+
                }
            }
        }
    )+};
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
    fn a_value_and_its_word_are_converted_both_ways() {
        assert_eq!(Light::ALL.map(Light::as_str), ["stop", "go"]);
        assert_eq!(
            ["go", "stop", "Go"].map(Light::parse),
            [Some(Light::Green), Some(Light::Red), None]
        );
    }

    struct Door {
        name: &'static str,
        key: &'static str,
    }
    shown!(Door { name });

    #[test]
    fn debug_hides_unlisted_fields() {
        let door = Door {
            name: "front",
            key: "quite-secret",
        };
        assert_eq!(
            format!("{door:?} {}", door.key.len()),
            "Door { name: \"front\", .. } 12"
        );
    }

    defaults! {
        #[derive(Debug, PartialEq)]
        struct Size {
            width: u32 = 3,
            name: String,
        }
    }

    #[test]
    fn a_field_has_its_value_or_the_default_of_its_type() {
        let expected = Size {
            width: 3,
            name: String::new(),
        };
        assert_eq!(Size::default(), expected);
    }
}
