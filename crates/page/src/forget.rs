//! Forgetting, with a preview of everything that will be deleted.
//!
//! Owns: the preview, and the second confirmation by a person. Never: deciding which items are deleted together.

use std::collections::BTreeSet;

use askama::Template;
use axum::Form;
use axum::extract::Query;
use axum::response::Response;
use gateway::wire::survey::DoomedItem;
use gateway::wire::{DeleteByIdsData, DeleteData, LeftItem, PreviewData, PreviewRequest};

use crate::frame::{PageFrame, Problem, html};
use crate::visit::{MemoryOwner, Visit};
use crate::words;
use gateway::ApiError;

/// The target of a deletion: single memories, a session of all its users, a person's memories with some words, or one
/// person.
#[derive(Debug, Clone, Default)]
pub(crate) struct ForgetTarget {
    ids: Vec<String>,
    session: String,
    words: String,
    all: String,
    /// The person's name, typed.
    confirm: String,
    /// Ids of matches that are kept.
    keep: Vec<String>,
    /// Ids of messages that are deleted although they do not match.
    also: Vec<String>,
    /// The person has chosen among the matches.
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "forget.html")]
struct ForgetView {
    frame: PageFrame,
    target: ForgetTarget,
    what: String,
    user: String,
    data: PreviewData,
    /// The person must type the user's name.
    needs_name: bool,
    /// The person can still exclude each memory and message.
    is_choice: bool,
    problem: Option<String>,
}

impl ForgetView {
    /// The memories that the request names, and those that are deleted with them.
    fn parts(&self) -> (&[DoomedItem], &[DoomedItem]) {
        let named = self.data.named_count.min(self.data.memories.len());
        self.data.memories.split_at(named)
    }
}

#[derive(Template)]
#[template(path = "forgotten.html")]
struct ForgottenView {
    frame: PageFrame,
    what: String,
    memories: usize,
    messages: usize,
    left: Vec<LeftItem>,
}

pub(crate) async fn look(
    visit: Visit,
    Query(fields): Query<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    let target = ForgetTarget {
        is_chosen: false,
        ..ForgetTarget::of(fields).0
    };
    Ok(html(&preview(&visit, target, None).await?))
}

async fn preview(
    visit: &Visit,
    target: ForgetTarget,
    problem: Option<String>,
) -> Result<ForgetView, ApiError> {
    let request = target.preview(&visit.owner)?;
    let data: PreviewData = visit.api.post_data("/memory/preview", &request).await?;
    Ok(ForgetView {
        frame: PageFrame::new(visit, "/page/memories", "Forget"),
        what: target.what(&visit.owner),
        user: visit.owner.user.clone(),
        needs_name: target.is_all(),
        is_choice: !target.words.is_empty() && !target.is_chosen,
        target,
        data,
        problem,
    })
}

pub(crate) async fn forget(
    visit: Visit,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    let (target, is_sure) = ForgetTarget::of(fields);
    if target.is_all() && target.confirm.trim() != visit.owner.user {
        let problem = format!("Nothing was forgotten: type `{}` to confirm.", visit.owner.user);
        return Ok(html(&preview(&visit, target, Some(problem)).await?));
    }
    if !target.words.is_empty() && !is_sure {
        return Ok(html(&preview(&visit, target, None).await?));
    }
    let preview = target.preview(&visit.owner)?;
    let (memories, messages, left) = if preview.ids.is_empty() {
        let data: DeleteData = visit.api.post_data("/memory/delete", &preview.deletion()).await?;
        (data.count, data.message_count, data.left)
    } else {
        let request = preview.by_ids();
        let data: DeleteByIdsData = visit.api.post_data("/memory/delete_by_ids", &request).await?;
        (data.count, data.message_count, data.left)
    };
    Ok(html(&ForgottenView {
        frame: PageFrame::new(&visit, "/page/memories", "Forgotten"),
        what: target.what(&visit.owner),
        memories,
        messages,
        left,
    }))
}

impl ForgetTarget {
    /// Reads a form's fields; also returns whether its last button was pressed. A browser sends only ticked boxes: an
    /// id that was shown as a match and is not ticked is kept, a ticked id that was no match is deleted too.
    fn of(fields: Vec<(String, String)>) -> (Self, bool) {
        let mut target = Self::default();
        let (mut shown, mut ticked, mut is_sure) = (Vec::new(), BTreeSet::new(), false);
        for (name, value) in fields {
            match name.as_str() {
                "id" => target.ids.push(value),
                "session" => target.session = value,
                "words" => target.words = value,
                "all" => target.all = value,
                "confirm" => target.confirm = value,
                "keep" => target.keep.push(value),
                "also" => target.also.push(value),
                "shown" => shown.push(value),
                "goes" => _ = ticked.insert(value),
                "sure" => is_sure = true,
                _ => {}
            }
        }
        target
            .also
            .extend(ticked.iter().filter(|id| !shown.contains(id)).cloned());
        shown.retain(|id| !ticked.contains(id));
        target.keep.extend(shown);
        target.is_chosen = true;
        (target, is_sure)
    }

    fn is_all(&self) -> bool {
        self.ids.is_empty() && self.session.is_empty() && self.words.is_empty() && !self.all.is_empty()
    }

    fn what(&self, owner: &MemoryOwner) -> String {
        if let [_, ..] = &*self.ids {
            let memories = match self.ids.len() {
                1 => "one memory".to_owned(),
                some => words::count(some, "memory", "memories"),
            };
            format!("{memories} of {}", owner.person())
        } else if !self.words.is_empty() {
            format!("everything with “{}”", self.words)
        } else if self.session.is_empty() {
            format!("everything of {} in project {}", owner.person(), owner.project)
        } else {
            format!("the session {} for everybody in it", self.session)
        }
    }

    fn preview(&self, owner: &MemoryOwner) -> Result<PreviewRequest, ApiError> {
        let mut request = PreviewRequest {
            user_id: Some(owner.user.clone()),
            ..PreviewRequest::default().within(&owner.app, &owner.project)
        };
        if !self.ids.is_empty() {
            request.ids.clone_from(&self.ids);
        } else if !self.words.is_empty() {
            request.words = Some(self.words.clone());
            request.keep.clone_from(&self.keep);
            request.also.clone_from(&self.also);
        } else if !self.session.is_empty() {
            request.session_id = Some(self.session.clone());
            request.user_id = None;
        } else if !self.is_all() {
            return Err(ApiError::refused(422, "nothing is chosen: tick what to forget"));
        }
        Ok(request)
    }
}
