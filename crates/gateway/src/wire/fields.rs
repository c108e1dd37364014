//! Fields that several requests have, and filling the structs of answers.
//!
//! Owns: the JSON form of these fields, in one place: `tenant` and `pages` in a request stand for groups of fields;
//! converting a struct of the engine to one of an answer. Never: fields of one request.

/// A JSON body with a tenant. Unknown keys are refused.
macro_rules! body {
    ($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::wire::fields::fields! {
            @ $name [
                #[serde_with::skip_serializing_none]
                #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
                #[serde(deny_unknown_fields)]
                $(#[$meta])*
            ] [] $($fields)*
        }
    };
}
pub(crate) use body;

/// The query of a URL with a tenant.
macro_rules! query {
    ($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::wire::fields::fields! {
            @ $name [
                #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, utoipa::IntoParams)]
                #[into_params(parameter_in = Query)]
                $(#[$meta])*
            ] [] $($fields)*
        }
    };
}
pub(crate) use query;

/// Puts the fields of each group in its place, and reads the tenant.
macro_rules! fields {
    (@ $name:ident $head:tt [$($done:tt)*] tenant: Body, $($rest:tt)*) => {
        $crate::wire::fields::fields! { @ $name $head [
            $($done)*
            #[schema(value_type = String, required = false, default = "default")]
            pub app_id: Option<String>,
            #[schema(value_type = String, required = false, default = "default")]
            pub project_id: Option<String>,
        ] $($rest)* }
    };
    (@ $name:ident $head:tt [$($done:tt)*] tenant: Query, $($rest:tt)*) => {
        $crate::wire::fields::fields! { @ $name $head [
            $($done)*
            #[param(value_type = String, default = "default", required = false)]
            pub app_id: Option<String>,
            #[param(value_type = String, default = "default", required = false)]
            pub project_id: Option<String>,
        ] $($rest)* }
    };
    (@ $name:ident $head:tt [$($done:tt)*] pages: Query, $($rest:tt)*) => {
        $crate::wire::fields::fields! { @ $name $head [
            $($done)*
            #[serde(default = "crate::wire::get::first")]
            #[param(minimum = 1, default = 1, required = false)]
            pub page: i64,
            /// 1 to 100; more is read as 100.
            #[serde(default = "crate::wire::get::size")]
            #[param(minimum = 1, default = 20, required = false)]
            pub page_size: i64,
        ] $($rest)* }
    };
    (@ $name:ident $head:tt [$($done:tt)*] $(#[$meta:meta])* pub $field:ident: $kind:ty, $($rest:tt)*) => {
        $crate::wire::fields::fields! { @ $name $head [$($done)* $(#[$meta])* pub $field: $kind,] $($rest)* }
    };
    (@ $name:ident [$($head:tt)*] [$($done:tt)*]) => {
        $($head)*
        pub struct $name { $($done)* }

        impl $name {
            /// The tenant that the request names; omitted parts come from `home`.
            pub fn scope(&self, home: &model::Scope) -> Result<model::Scope, $crate::wire::Invalid> {
                $crate::wire::scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)
            }

            /// The same request in this tenant.
            #[must_use]
            pub fn within(mut self, app: &str, project: &str) -> Self {
                self.app_id = Some(app.to_owned());
                self.project_id = Some(project.to_owned());
                self
            }
        }
    };
}
pub(crate) use fields;

/// A struct of an answer that is filled from values of the engine, as in `#[from(run: &Run, zone: &Zone)]`. Each field is the one of
/// the same name of the first value, or what stands at it, as in `#[value(zone.render(run.created))]`.
macro_rules! filled {
    (@ $head:tt $name:ident [$it:ident: $($from:tt)+] [$($done:tt)*] [$($values:tt)*]
        $(#[doc = $doc:tt])* #[value($value:expr)] $(#[$meta:meta])* pub $field:ident: $kind:ty, $($rest:tt)*
    ) => {
        $crate::wire::fields::filled! { @ $head $name [$it: $($from)+]
            [$($done)* $(#[doc = $doc])* $(#[$meta])* pub $field: $kind,] [$($values)* $field: $value,] $($rest)*
        }
    };
    (@ $head:tt $name:ident [$it:ident: $($from:tt)+] [$($done:tt)*] [$($values:tt)*]
        $(#[$meta:meta])* pub $field:ident: $kind:ty, $($rest:tt)*
    ) => {
        $crate::wire::fields::filled! { @ $head $name [$it: $($from)+]
            [$($done)* $(#[$meta])* pub $field: $kind,] [$($values)* $field: ::std::clone::Clone::clone(&$it.$field),] $($rest)*
        }
    };
    (@ [$($head:tt)*] $name:ident [$($from:tt)+] [$($done:tt)*] [$($values:tt)*]) => {
        $($head)*
        pub struct $name { $($done)* }

        impl $name {
            /// Filled from the engine's.
            pub(crate) fn of($($from)+) -> Self {
                Self { $($values)* }
            }
        }
    };
    ($(#[doc = $doc:tt])* #[from($($from:tt)+)] $(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::wire::fields::filled! { @ [
            $(#[doc = $doc])*
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        ] $name [$($from)+] [] [] $($fields)* }
    };
}
pub(crate) use filled;
