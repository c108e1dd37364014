//! What stands around every view: navigation, whose memory it is, a notice; and the view of a failure.
//!
//! Owns: turning a view into an answer. Never: what a view shows.

use askama::Template;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use crate::assets::{ASSETS, Assets, HTMX_INTEGRITY};
use crate::guest::{Guest, WhoseMemory};
use gateway::ApiError;

/// A place in the navigation, with the id of its drawing in the sprite.
pub(crate) struct NavLink {
    pub(crate) label: &'static str,
    pub(crate) address: String,
    pub(crate) is_here: bool,
    pub(crate) icon: &'static str,
}

model::defaults! {
    /// Everything around a view.
    pub(crate) struct Around {
        pub(crate) title: String,
        pub(crate) links: Vec<NavLink>,
        /// Whose memory can be chosen.
        pub(crate) choices: Vec<WhoseMemory>,
        /// The token of a cookie can be forgotten.
        pub(crate) can_sign_out: bool,
        /// Where another memory is chosen.
        pub(crate) path: &'static str,
        pub(crate) who: String,
        /// For addresses: `who=…`.
        pub(crate) query: String,
        pub(crate) assets: &'static Assets = &ASSETS,
        pub(crate) integrity: &'static str = HTMX_INTEGRITY,
        pub(crate) notice: Option<String>,
    }
}

impl Around {
    /// Around a view of a visitor; `place` is the address of its view in the navigation.
    pub(crate) fn new(guest: &Guest, place: &'static str, title: impl Into<String>) -> Self {
        let query = guest.whose.query();
        let mut people: Vec<WhoseMemory> = guest
            .people
            .iter()
            .filter(|owner| owner.kind == "user")
            .map(WhoseMemory::of_owner)
            .collect();
        if !people.contains(&guest.whose) {
            people.insert(0, guest.whose.clone());
        }
        // What a user's token does not open has no place in its navigation.
        let is_one_user = guest.visitor.user.is_some();
        let places = [
            ("/", "now", "Now", false),
            ("/page/memories", "memories", "Memories", false),
            ("/page/conversations", "talk", "Conversations", false),
            ("/page/skills", "skills", "Skills", true),
            ("/page/documents", "documents", "Documents", true),
            ("/page/import", "import", "Import", true),
        ];
        let places = places.into_iter();
        let links = places.filter(|(.., is_everybodys)| !is_one_user || !is_everybodys);
        let links = links.map(|(path, icon, label, _)| NavLink {
            label,
            address: format!("{path}?{query}"),
            is_here: path == place,
            icon,
        });
        Self {
            title: title.into(),
            links: links.collect(),
            choices: people,
            can_sign_out: guest.visitor.needs_token,
            path: place,
            who: guest.whose.text(),
            query,
            ..Self::default()
        }
    }

    /// Around a view that knows no visitor.
    pub(crate) fn bare(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    #[must_use]
    pub(crate) fn with_notice(self, notice: Option<String>) -> Self {
        Self { notice, ..self }
    }
}

/// A view as an answer.
pub(crate) fn html(view: &impl Template) -> Response {
    let kind = [(CONTENT_TYPE, "text/html; charset=utf-8")];
    (kind, written(view)).into_response()
}

/// A view as text.
pub(crate) fn written(view: &impl Template) -> String {
    view.render().expect("a view only writes into memory")
}

/// The status of a view that says why the API refused.
pub(crate) fn status_code(refused: &ApiError) -> StatusCode {
    StatusCode::from_u16(refused.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A view that cannot be shown.
#[derive(Debug)]
pub(crate) struct Problem(ApiError);

impl From<ApiError> for Problem {
    fn from(refused: ApiError) -> Self {
        Self(refused)
    }
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemView {
    around: Around,
    status: u16,
    words: String,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self(refused) = self;
        let view = ProblemView {
            around: Around::bare("Not possible"),
            status: refused.status(),
            words: refused.to_string(),
        };
        (status_code(&refused), html(&view)).into_response()
    }
}
