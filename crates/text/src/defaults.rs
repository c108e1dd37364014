//! A struct whose fields stand beside their defaults.
//!
//! Owns: the form of the declaration. Never: the values.

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
