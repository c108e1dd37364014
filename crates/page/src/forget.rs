//! Forgetting, with a look at everything that goes first.
//!
//! Owns: the preview, and that a person must ask twice. Never: deciding what goes with what.

use std::collections::BTreeSet;

use askama::Template;
use axum::Form;
use axum::extract::Query;
use axum::response::Response;
use gateway::wire::survey::DoomedItem;
use gateway::wire::{DeleteByIdsData, DeleteData, LeftItem, PreviewData, PreviewRequest};

use crate::around::{Around, Problem, html};
use crate::guest::{Guest, WhoseMemory};
use crate::words;
use gateway::ApiError;

/// What to forget: single memories, a session of everybody, what a person has with some words, or one person.
#[derive(Debug, Clone, Default)]
pub(crate) struct ForgetTarget {
    ids: Vec<String>,
    session: String,
    words: String,
    all: String,
    /// The person's name, typed.
    confirm: String,
    /// Ids that stay although they have the words.
    keep: Vec<String>,
    /// Ids of messages that go without the words.
    also: Vec<String>,
    /// The choice among what has the words is made.
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "forget.html")]
struct ForgetView {
    around: Around,
    target: ForgetTarget,
    what: String,
    user: String,
    data: PreviewData,
    /// The person must type the name.
    needs_name: bool,
    /// Each memory and message can still be taken out of the deletion.
    is_choice: bool,
    problem: Option<String>,
}

impl ForgetView {
    /// What the request names, and what goes with it.
    fn parts(&self) -> (&[DoomedItem], &[DoomedItem]) {
        let named = self.data.named_count.min(self.data.memories.len());
        self.data.memories.split_at(named)
    }
}

#[derive(Template)]
#[template(path = "forgotten.html")]
struct ForgottenView {
    around: Around,
    what: String,
    memories: usize,
    messages: usize,
    left: Vec<LeftItem>,
}

pub(crate) async fn look(
    guest: Guest,
    Query(fields): Query<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    let target = ForgetTarget {
        is_chosen: false,
        ..ForgetTarget::of(fields).0
    };
    Ok(html(&preview(&guest, target, None).await?))
}

async fn preview(
    guest: &Guest,
    target: ForgetTarget,
    problem: Option<String>,
) -> Result<ForgetView, ApiError> {
    let request = target.preview(&guest.whose)?;
    let data: PreviewData = guest.api.post_data("/memory/preview", &request).await?;
    Ok(ForgetView {
        around: Around::new(guest, "/page/memories", "Forget"),
        what: target.what(&guest.whose),
        user: guest.whose.user.clone(),
        needs_name: target.is_all(),
        is_choice: !target.words.is_empty() && !target.is_chosen,
        target,
        data,
        problem,
    })
}

pub(crate) async fn forget(
    guest: Guest,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    let (target, is_sure) = ForgetTarget::of(fields);
    if target.is_all() && target.confirm.trim() != guest.whose.user {
        let problem = format!("Nothing was forgotten: type `{}` to confirm.", guest.whose.user);
        return Ok(html(&preview(&guest, target, Some(problem)).await?));
    }
    if !target.words.is_empty() && !is_sure {
        return Ok(html(&preview(&guest, target, None).await?));
    }
    let preview = target.preview(&guest.whose)?;
    let (memories, messages, left) = if preview.ids.is_empty() {
        let data: DeleteData = guest.api.post_data("/memory/delete", &preview.deletion()).await?;
        (data.count, data.message_count, data.left)
    } else {
        let request = preview.by_ids();
        let data: DeleteByIdsData = guest.api.post_data("/memory/delete_by_ids", &request).await?;
        (data.count, data.message_count, data.left)
    };
    Ok(html(&ForgottenView {
        around: Around::new(&guest, "/page/memories", "Forgotten"),
        what: target.what(&guest.whose),
        memories,
        messages,
        left,
    }))
}

impl ForgetTarget {
    /// Of a form's fields, with whether its last button was pressed. Of the tick boxes a browser sends those that are ticked; what
    /// was shown without a tick stays. What is ticked and was not shown as having the words goes with it.
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

    fn what(&self, whose: &WhoseMemory) -> String {
        if let [_, ..] = &*self.ids {
            let memories = match self.ids.len() {
                1 => "one memory".to_owned(),
                some => words::count(some, "memory", "memories"),
            };
            format!("{memories} of {}", whose.person())
        } else if !self.words.is_empty() {
            format!("everything with “{}”", self.words)
        } else if self.session.is_empty() {
            format!("everything of {} in project {}", whose.person(), whose.project)
        } else {
            format!("the session {} for everybody in it", self.session)
        }
    }

    fn preview(&self, whose: &WhoseMemory) -> Result<PreviewRequest, ApiError> {
        let mut request = PreviewRequest {
            user_id: Some(whose.user.clone()),
            ..PreviewRequest::default().within(&whose.app, &whose.project)
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
