//! The frame of every view: navigation, the choice of a user's memory, a notice; and the view of a failure.
//!
//! Owns: rendering a view into a response. Never: the content of a view.

use askama::Template;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use crate::assets::{ASSETS, Assets, HTMX_INTEGRITY};
use crate::visit::{MemoryOwner, Visit};
use gateway::ApiError;

/// A link of the navigation, with the id of its icon in the sprite.
pub(crate) struct NavLink {
    pub(crate) label: &'static str,
    pub(crate) address: String,
    pub(crate) is_here: bool,
    pub(crate) icon: &'static str,
}

model::defaults! {
    /// The frame of a view.
    pub(crate) struct PageFrame {
        pub(crate) title: String,
        pub(crate) links: Vec<NavLink>,
        /// The memories that the visitor can choose.
        pub(crate) choices: Vec<MemoryOwner>,
        /// The server needs a token, so a visitor can sign out.
        pub(crate) can_sign_out: bool,
        /// The view that opens after another memory is chosen.
        pub(crate) path: &'static str,
        pub(crate) who: String,
        /// The query of addresses: `who=…`.
        pub(crate) query: String,
        pub(crate) assets: &'static Assets = &ASSETS,
        pub(crate) integrity: &'static str = HTMX_INTEGRITY,
        pub(crate) notice: Option<String>,
    }
}

impl PageFrame {
    /// The frame of a visitor's view; `place` is the address of the view's link in the navigation.
    pub(crate) fn new(visit: &Visit, place: &'static str, title: impl Into<String>) -> Self {
        let query = visit.owner.query();
        let mut people: Vec<MemoryOwner> = visit
            .people
            .iter()
            .filter(|owner| owner.kind == "user")
            .map(MemoryOwner::of_owner)
            .collect();
        if !people.contains(&visit.owner) {
            people.insert(0, visit.owner.clone());
        }
        // The navigation leaves out the views that a user's token does not open.
        let is_one_user = visit.visitor.user.is_some();
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
            can_sign_out: visit.visitor.needs_token,
            path: place,
            who: visit.owner.text(),
            query,
            ..Self::default()
        }
    }

    /// The frame of a view without a visitor.
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

/// Renders a view into a response.
pub(crate) fn html(view: &impl Template) -> Response {
    let kind = [(CONTENT_TYPE, "text/html; charset=utf-8")];
    (kind, written(view)).into_response()
}

/// Renders a view into text.
pub(crate) fn written(view: &impl Template) -> String {
    view.render().expect("a view only writes into memory")
}

/// The HTTP status of a view that shows why the API refused.
pub(crate) fn status_code(refused: &ApiError) -> StatusCode {
    StatusCode::from_u16(refused.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A view of an error.
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
    frame: PageFrame,
    status: u16,
    words: String,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self(refused) = self;
        let view = ProblemView {
            frame: PageFrame::bare("Not possible"),
            status: refused.status(),
            words: refused.to_string(),
        };
        (status_code(&refused), html(&view)).into_response()
    }
}
