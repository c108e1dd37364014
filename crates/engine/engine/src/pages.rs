//! The pages of an owner: read, replaced, and rid of what was forgotten.
//!
//! Owns: that a page cites nothing that is not there. Never: what a page says.

use std::collections::BTreeSet;

use consolidate::page;
use model::{Owner, Page, Scope};

use crate::api::{EngineError, ReplacePage};
use crate::list;
use crate::world::World;

/// How often a page is read again that a person saved meanwhile.
const TRIES: usize = 5;

/// Puts a page in the place of what was read; false, and nothing done, where something else stands there or a memory
/// that it cites is gone.
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
    // Nothing is forgotten between the look and the writing.
    let _alone = world.gate.write().await;
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

/// Takes the lines out of an owner's pages that cite what is gone, with what stood in the pages before.
pub(crate) async fn forget(
    world: &World,
    scope: &Scope,
    owner: &Owner,
    gone: &BTreeSet<&str>,
) -> Result<(), EngineError> {
    if gone.is_empty() {
        return Ok(());
    }
    for page in Page::ALL {
        forget_in(world, scope, owner, page, gone).await?;
    }
    Ok(world.parts.pages.drop_previous(scope, owner).await?)
}

async fn forget_in(
    world: &World,
    scope: &Scope,
    owner: &Owner,
    page: Page,
    gone: &BTreeSet<&str>,
) -> Result<(), EngineError> {
    let pages = &world.parts.pages;
    for _ in 0..TRIES {
        let Some(text) = pages.page(scope, owner, page).await? else {
            return Ok(());
        };
        let Some(left) = page::without(&text, gone) else {
            return Ok(());
        };
        if pages.replace(scope, owner, page, Some(&text), &left).await? {
            return Ok(());
        }
    }
    Err(EngineError::Invalid(format!(
        "`{}` is being saved again and again: forget it again",
        page.file_name()
    )))
}
