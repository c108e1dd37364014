//! The visitor of the page, and the memory that the visitor looks at.
//!
//! Owns: reading both from a request. Never: permission (the API refuses a request that the token does not allow).

use std::fmt::Display;

use axum::Extension;
use axum::extract::{FromRequestParts, Query};
use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use gateway::wire::owners::{OwnerItem, OwnersData};
use gateway::{ApiError, Client, Visitor};
use model::{Name, Scope};
use serde::Deserialize;

use crate::frame::Problem;
use crate::import::Imports;
use crate::words;

/// The default user, if neither the token nor the configuration nor the address names one.
const NOBODY: &str = "me";

/// Parts that htmx selects from a whole view: the sources of a memory, and the answer to a form.
const OWN_PARTS: [&str; 2] = ["behind", "main"];

/// The state that all views share.
#[derive(Debug, Clone)]
pub(crate) struct PageState {
    pub(crate) client: Client,
    /// The default user for addresses that name none.
    pub(crate) user: Option<Name>,
    pub(crate) imports: Imports,
}

/// A user in a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemoryOwner {
    pub(crate) app: String,
    pub(crate) project: String,
    pub(crate) user: String,
}

impl MemoryOwner {
    /// Parses `app/project/user`, the form of an address. No name contains a slash.
    fn parse(text: &str) -> Option<Self> {
        let mut names = text.split('/').map(Name::parse);
        let mut next = || names.next()?.ok().map(|name| name.as_str().to_owned());
        let owner = Self {
            app: next()?,
            project: next()?,
            user: next()?,
        };
        names.next().is_none().then_some(owner)
    }

    fn of(scope: &Scope, user: &str) -> Self {
        Self {
            app: scope.app.as_str().to_owned(),
            project: scope.project.as_str().to_owned(),
            user: user.to_owned(),
        }
    }

    pub(crate) fn of_owner(owner: &OwnerItem) -> Self {
        Self {
            app: owner.app_id.clone(),
            project: owner.project_id.clone(),
            user: owner.id.clone(),
        }
    }

    /// The same user's memory in another project; `None` is the default project.
    pub(crate) fn in_project(&self, project: Option<&str>) -> Self {
        Self {
            project: project.unwrap_or("default").to_owned(),
            ..self.clone()
        }
    }

    /// The tenant.
    pub(crate) fn scope(&self) -> Scope {
        let name = |text: &str| Name::parse(text).expect("it was read as a name, or is one");
        Scope::new(name(&self.app), name(&self.project))
    }

    pub(crate) fn text(&self) -> String {
        format!("{}/{}/{}", self.app, self.project, self.user)
    }

    /// The query of an address of the page.
    pub(crate) fn query(&self) -> String {
        format!("who={}", words::encoded(&self.text()))
    }

    /// The address of a view: `/page/forget?who=…&id=…`.
    pub(crate) fn link(&self, view: &str, query: &[(&str, &dyn Display)]) -> String {
        words::with_query(format!("/page/{view}?{}", self.query()), query)
    }

    /// A route of the API for this user, with a query of its own.
    pub(crate) fn route(&self, route: &str, query: &[(&str, &dyn Display)]) -> String {
        words::with_query(format!("{route}?{}", self.of_api()), query)
    }

    /// Whether it is the memory of the default user: the page calls that user "you".
    pub(crate) fn is_you(&self) -> bool {
        self.user == NOBODY
    }

    /// The person in a sentence: "you", or a name.
    pub(crate) fn person(&self) -> &str {
        person(&self.user)
    }

    /// The memory in a sentence: "your memory", or with a name.
    pub(crate) fn memory(&self) -> String {
        if self.is_you() {
            "your memory".to_owned()
        } else {
            format!("the memory of {}", self.user)
        }
    }

    /// The label in a select; it names the tenant only if it is not the default one.
    pub(crate) fn label(&self) -> String {
        let person = self.person();
        match (&*self.app, &*self.project) {
            ("default", "default") => person.to_owned(),
            ("default", project) => format!("{person} · {project}"),
            (app, project) => format!("{person} · {app}/{project}"),
        }
    }

    /// User and tenant as a query of the API.
    fn of_api(&self) -> String {
        format!("user_id={}&{}", words::encoded(&self.user), self.tenant())
    }

    /// The tenant as a query of the API.
    pub(crate) fn tenant(&self) -> String {
        format!(
            "app_id={}&project_id={}",
            words::encoded(&self.app),
            words::encoded(&self.project)
        )
    }
}

/// A user in a sentence.
pub(crate) fn person(user: &str) -> &str {
    if user == NOBODY { "you" } else { user }
}

/// A visitor, with the memory that the visitor looks at.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    pub(crate) api: Client,
    pub(crate) visitor: Visitor,
    pub(crate) owner: MemoryOwner,
    /// The users that the visitor can choose; empty if only `owner`.
    pub(crate) people: Vec<OwnerItem>,
    /// A script requests a part of the view.
    pub(crate) wants_part: bool,
    /// The host in the browser's request: `127.0.0.1:4777`.
    pub(crate) host: String,
}

/// The id in an address, extracted by name: the mount of the page adds a path parameter of its own.
#[derive(Debug, Deserialize)]
pub(crate) struct IdPath {
    pub(crate) id: String,
}

#[derive(Deserialize)]
struct WhoQuery {
    who: Option<String>,
}

impl FromRequestParts<PageState> for Visit {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, page: &PageState) -> Result<Self, Problem> {
        let visitor = Extension::<Visitor>::from_request_parts(parts, page).await;
        let Ok(Extension(visitor)) = visitor else {
            return Err(ApiError::refused(500, "the page is not mounted").into());
        };
        let api = page.client.acting_for(&parts.headers);
        let is_own = |target: &HeaderValue| OWN_PARTS.iter().any(|part| target == part);
        let wants_part =
            parts.headers.contains_key("hx-request") && !parts.headers.get("hx-target").is_some_and(is_own);
        let named = Query::<WhoQuery>::try_from_uri(&parts.uri)
            .ok()
            .and_then(|Query(query)| query.who)
            .and_then(|who| MemoryOwner::parse(&who));
        let people = if named.is_some() && wants_part {
            Vec::new()
        } else {
            people(&api).await?
        };
        let owner = named.unwrap_or_else(|| chosen(&visitor, page.user.as_ref(), &people));
        Ok(Self {
            api,
            visitor,
            owner,
            people,
            wants_part,
            host: host(&parts.headers),
        })
    }
}

/// Users and agents; empty if the token does not open all tenants.
async fn people(api: &Client) -> Result<Vec<OwnerItem>, ApiError> {
    let data: OwnersData = unless(CLOSED, api.get_data("/owners").await)?;
    Ok(data.owners)
}

/// The status of a request that the token does not allow.
pub(crate) const CLOSED: u16 = 403;
/// The status of a feature that the server does not have.
pub(crate) const LACKING: u16 = 503;

/// The answer, or a default if the API refuses with this status: the view leaves that part out.
pub(crate) fn unless<T: Default>(status: u16, answer: Result<T, ApiError>) -> Result<T, ApiError> {
    match answer {
        Err(refused) if refused.status() == status => Ok(T::default()),
        answer => answer,
    }
}

/// The token's user, else the configured user if they have memory, else the user with the most memory.
fn chosen(visitor: &Visitor, configured: Option<&Name>, people: &[OwnerItem]) -> MemoryOwner {
    if let Some(user) = visitor.user.as_ref().or(visitor.usual.as_ref()) {
        return MemoryOwner::of(&visitor.home, user.as_str());
    }
    let users = || people.iter().filter(|owner| owner.kind == "user");
    let is_configured = |owner: &&OwnerItem| {
        configured.is_some_and(|user| user.as_str() == owner.id)
            && owner.app_id == visitor.home.app.as_str()
            && owner.project_id == visitor.home.project.as_str()
    };
    let found = users()
        .find(is_configured)
        .or_else(|| users().max_by_key(|owner| owner.memories));
    match found {
        Some(owner) => MemoryOwner::of_owner(owner),
        None => MemoryOwner::of(&visitor.home, configured.map_or(NOBODY, Name::as_str)),
    }
}

fn host(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    host.unwrap_or("127.0.0.1:4777").to_owned()
}
