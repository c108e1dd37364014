//! The pages of an owner: read, replace, and remove deleted text.
//!
//! Owns: that a page cites only existing memories. Never: the text of a page.

use std::collections::BTreeSet;

use extract::consolidate::page;
use model::{Doc, Owner, Page, Scope};

use crate::api::{EngineError, ReplacePage};
use crate::list;
use crate::world::World;

/// How often a page is read again that a person saved meanwhile.
const TRIES: usize = 5;

/// Replaces a page. Returns false, without a change, if the page is not the one that was read, or if a memory that it
/// cites is gone.
pub(crate) async fn replace(world: &World, replace: ReplacePage) -> Result<bool, EngineError> {
    world.accepting()?;
    let ReplacePage {
        scope,
        owner,
        page,
        before,
        text,
    } = replace;
    world.gauge.answering(&*world.parts.clock).await?;
    // No deletion runs between the check and the write.
    let _alone = world.alone_in(&scope).await;
    let rows = list::entries(world, &scope, &owner).await?;
    let there: BTreeSet<&str> = rows.iter().map(|row| &*row.key.id).collect();
    let lines = page::lines(&text);
    let mut cited = lines
        .iter()
        .filter_map(|line| line.own.as_ref())
        .flat_map(|own| &own.cites);
    if !cited.all(|id| there.contains(id.as_str())) {
        return Ok(false);
    }
    let pages = &world.parts.pages;
    let replaced = pages
        .replace(&scope, &owner, page, before.as_deref(), &text)
        .await?;
    if replaced {
        let path = pages.path_of(&scope, &owner, page);
        world.chronicle.is_edited(&path);
        world.chronicle.touch(world.parts.clock.elapsed());
    }
    Ok(replaced)
}

/// Whether an owner has a page.
pub(crate) async fn has_any(world: &World, scope: &Scope, owner: &Owner) -> Result<bool, EngineError> {
    for page in Page::ALL {
        if world.parts.pages.page(scope, owner, page).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Takes the lines out of an owner's pages that cite what is gone of the owner's rows, with what stood in the pages before.
pub(crate) async fn forget(
    world: &World,
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
        forget_in(world, (scope, owner), page, left).await?;
    }
    Ok(world.parts.pages.drop_previous(scope, owner).await?)
}

/// A memory that goes only because its sources went can be made again, from the remaining sources or from new ones.
pub(crate) async fn let_be_made(
    world: &World,
    scope: &Scope,
    owner: &Owner,
    going: &[&Doc],
) -> Result<(), EngineError> {
    if going.is_empty() {
        return Ok(());
    }
    let before = world.parts.pages.made(scope, owner).await?;
    let mut made = before.clone();
    for doc in going {
        made.remove(&*doc.key.id);
    }
    if made != before {
        world.parts.pages.set_made(scope, owner, &made).await?;
    }
    Ok(())
}

async fn forget_in(
    world: &World,
    (scope, owner): (&Scope, &Owner),
    page: Page,
    left: impl Fn(&str) -> Option<String>,
) -> Result<(), EngineError> {
    let pages = &world.parts.pages;
    for _ in 0..TRIES {
        let Some(text) = pages.page(scope, owner, page).await? else {
            return Ok(());
        };
        let Some(left) = left(&text) else {
            return Ok(());
        };
        if pages.replace(scope, owner, page, Some(&text), &left).await? {
            return Ok(());
        }
    }
    Err(EngineError::Invalid(format!(
        "another program keeps saving `{}`: repeat the request",
        page.file_name()
    )))
}
