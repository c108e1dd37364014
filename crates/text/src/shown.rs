//! What `Debug` shows of a type that holds secrets or cannot be shown whole.
//!
//! Owns: the form of the declaration. Never: which fields may be seen.

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

#[cfg(test)]
mod tests {
    struct Door {
        name: &'static str,
        key: &'static str,
    }
    shown!(Door { name });

    #[test]
    fn other_fields_stay_hidden() {
        let door = Door {
            name: "front",
            key: "quite-secret",
        };
        assert_eq!(
            format!("{door:?} {}", door.key.len()),
            "Door { name: \"front\", .. } 12"
        );
    }
}
