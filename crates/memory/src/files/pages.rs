//! The pages of an owner: read, replace, and remove deleted text.
//!
//! Owns: that a page cites only existing memories. Never: the text of a page.

use std::collections::BTreeSet;

use extract::consolidate::page::{self, PageLine};
use model::{Doc, DocKey, Owner, Page, Scope};
use ports::VersionKey;

use super::history;
use crate::api::ReplacePage;
use crate::base::Base;
use crate::error::EngineError;
use crate::words::Words;

/// How often a page is read again if a person saved it meanwhile.
const TRIES: usize = 5;

/// Replaces a page. Returns false, without a change, if the page has changed since it was read, if a memory that it
/// cites no longer exists, or if a run would replace the page of another ledger.
pub(crate) async fn replace(base: &Base, replace: ReplacePage) -> Result<bool, EngineError> {
    base.accepting()?;
    let ReplacePage {
        scope,
        owner,
        page,
        before,
        text,
    } = replace;
    let path = base.parts.pages.path_of(&scope, &owner, page);
    let key = VersionKey::of_file(path);
    if before.is_some() && !history::may_change(base, key, before.as_deref()).await? {
        return Ok(false);
    }
    base.answering().await?;
    // No deletion runs between the check and the write.
    let _alone = base.alone_in(&scope).await;
    let lines = page::lines(&text);
    let cited = lines.iter().filter_map(|line| line.own.as_ref());
    let cited: BTreeSet<&str> = cited.flat_map(|own| &own.cites).map(String::as_str).collect();
    let keys = cited.iter().map(|id| DocKey::new(&scope, &owner, *id)).collect();
    if base.corpora.get(keys).await?.len() < cited.len() {
        return Ok(false);
    }
    let writer = &base.parts.vault_writer;
    let replaced = writer
        .replace_page(&scope, &owner, page, before.as_deref(), &text)
        .await?;
    Ok(replaced)
}

/// Whether an owner has a page.
pub(crate) async fn has_any(base: &Base, scope: &Scope, owner: &Owner) -> Result<bool, EngineError> {
    for page in Page::ALL {
        if base.parts.pages.page(scope, owner, page).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes the lines from an owner's pages that cite deleted rows, and the previous versions of the pages.
pub(crate) async fn forget(
    base: &Base,
    (scope, owner): (&Scope, &Owner),
    rows: &[&Doc],
    gone: &BTreeSet<&str>,
) -> Result<(), EngineError> {
    if gone.is_empty() {
        return Ok(());
    }
    let there: BTreeSet<&str> = rows.iter().map(|doc| &*doc.key.id).collect();
    for page in Page::ALL {
        let left = |text: &str| page::without(text, gone, |id| there.contains(id));
        forget_in(base, (scope, owner), page, left).await?;
    }
    Ok(base.parts.pages.drop_previous(scope, owner).await?)
}

/// The lines of an owner's pages to delete: those that cite deleted rows, and those that contain some words.
pub(crate) async fn going(
    base: &Base,
    (scope, owner): (&Scope, &Owner),
    rows: &[&Doc],
    gone: &BTreeSet<&str>,
    words: Option<&Words>,
) -> Result<Vec<String>, EngineError> {
    let there: BTreeSet<&str> = rows.iter().map(|doc| &*doc.key.id).collect();
    let mut going = Vec::new();
    for page in Page::ALL {
        let Some(text) = base.parts.pages.page(scope, owner, page).await? else {
            continue;
        };
        let goes = |line: &PageLine<'_>| {
            let is_told = !gone.is_empty() && line.repeats(gone, |id| there.contains(id));
            is_told || words.is_some_and(|words| words.are_in([line.raw]))
        };
        let lines = page::lines(&text).into_iter().filter(goes);
        going.extend(lines.map(|line| match line.own {
            Some(own) => own.text,
            None => line.raw.trim().to_owned(),
        }));
    }
    Ok(going)
}

/// Removes the lines that contain some words from an owner's pages, people's own lines too; returns whether there were
/// any.
pub(crate) async fn forget_words(
    base: &Base,
    (scope, owner): (&Scope, &Owner),
    words: &Words,
) -> Result<bool, EngineError> {
    let mut is_any = false;
    for page in Page::ALL {
        let Some(text) = base.parts.pages.page(scope, owner, page).await? else {
            continue;
        };
        if words.are_in([&*text]) {
            let left = |text: &str| {
                let stays = |line: &&str| !words.are_in([*line]);
                let left: String = text.split_inclusive('\n').filter(stays).collect();
                (left.len() < text.len()).then_some(left)
            };
            is_any |= left(&text).is_some();
            forget_in(base, (scope, owner), page, left).await?;
        }
    }
    if is_any {
        base.parts.pages.drop_previous(scope, owner).await?;
    }
    Ok(is_any)
}

/// Allows strategies to make memories again that are deleted only because their sources are: from the remaining sources
/// or from new ones.
pub(crate) async fn let_be_made(
    base: &Base,
    scope: &Scope,
    owner: &Owner,
    going: &[&Doc],
) -> Result<(), EngineError> {
    if going.is_empty() {
        return Ok(());
    }
    let before = base.parts.pages.made(scope, owner).await?;
    let mut made = before.clone();
    for doc in going {
        made.remove(&*doc.key.id);
    }
    if made != before {
        base.parts.pages.set_made(scope, owner, &made).await?;
    }
    Ok(())
}

async fn forget_in(
    base: &Base,
    (scope, owner): (&Scope, &Owner),
    page: Page,
    left: impl Fn(&str) -> Option<String>,
) -> Result<(), EngineError> {
    let (pages, writer) = (&base.parts.pages, &base.parts.vault_writer);
    for _ in 0..TRIES {
        let Some(text) = pages.page(scope, owner, page).await? else {
            return Ok(());
        };
        let Some(left) = left(&text) else {
            return Ok(());
        };
        if writer
            .replace_page(scope, owner, page, Some(&text), &left)
            .await?
        {
            return Ok(());
        }
    }
    Err(EngineError::Invalid(format!(
        "another program keeps saving `{}`: repeat the request",
        page.as_str()
    )))
}
