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

/// The views of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nav {
    Now,
    Memories,
    Conversations,
    Background,
    Skills,
    Documents,
    Import,
    Health,
    /// A view that the navigation does not show.
    None,
}

/// A place in the navigation.
pub(crate) struct NavLink {
    pub(crate) label: &'static str,
    pub(crate) address: String,
    pub(crate) is_here: bool,
    /// The id of its drawing in the sprite.
    pub(crate) icon: &'static str,
}

/// An owner to choose.
pub(crate) struct OwnerChoice {
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) is_chosen: bool,
}

text::defaults! {
    /// Everything around a view.
    pub(crate) struct Around {
        pub(crate) title: String,
        pub(crate) links: Vec<NavLink>,
        pub(crate) choices: Vec<OwnerChoice>,
        /// The token of a cookie can be forgotten.
        pub(crate) can_sign_out: bool,
        pub(crate) path: String,
        pub(crate) who: String,
        /// For addresses: `who=…`.
        pub(crate) query: String,
        pub(crate) assets: &'static Assets = &ASSETS,
        pub(crate) integrity: &'static str = HTMX_INTEGRITY,
        pub(crate) notice: Option<String>,
    }
}

impl Around {
    pub(crate) fn new(guest: &Guest, nav: Nav, title: impl Into<String>) -> Self {
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
        let choices = people.iter().map(|whose| OwnerChoice {
            value: whose.text(),
            label: whose.label(),
            is_chosen: *whose == guest.whose,
        });
        // What a user's token does not open has no place in its navigation.
        let is_one_user = guest.visitor.user.is_some();
        let places = [
            (Nav::Now, "Now", "/", "now", false),
            (Nav::Memories, "Memories", "/page/memories", "memories", false),
            (
                Nav::Conversations,
                "Conversations",
                "/page/conversations",
                "talk",
                false,
            ),
            (
                Nav::Background,
                "Background",
                "/page/background",
                "background",
                true,
            ),
            (Nav::Skills, "Skills", "/page/skills", "skills", true),
            (Nav::Documents, "Documents", "/page/documents", "documents", true),
            (Nav::Import, "Import", "/page/import", "import", true),
            (Nav::Health, "Health", "/page/health", "health", true),
        ];
        let links = places
            .into_iter()
            .filter(|(.., is_everybodys)| !is_one_user || !is_everybodys)
            .map(|(place, label, path, icon, _)| NavLink {
                label,
                address: format!("{path}?{query}"),
                is_here: place == nav,
                icon,
            });
        Self {
            title: title.into(),
            links: links.collect(),
            choices: choices.collect(),
            can_sign_out: guest.visitor.needs_token,
            path: match nav {
                // Its own address names a memory of somebody.
                Nav::Memories => "/page/memories".to_owned(),
                Nav::Conversations => "/page/conversations".to_owned(),
                _ => guest.path.clone(),
            },
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
    pub(crate) fn with_notice(mut self, notice: impl Into<String>) -> Self {
        self.notice = Some(notice.into());
        self
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
