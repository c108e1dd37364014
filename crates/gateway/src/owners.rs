//! `/owners`: all owners with memory, with counts and sizes.
//!
//! Owns: limiting the list to the caller's tenant. Never: counting.

use crate::body::UrlQuery;
use crate::frame::{Answer, Visit};
use crate::history::within;
use crate::wire::history::TenantQuery;
use crate::wire::owners::{OwnerItem, OwnersData};

pub(crate) async fn list_owners(visit: Visit, UrlQuery(query): UrlQuery<TenantQuery>) -> Answer {
    let within = within(&visit, query.app_id.as_deref(), query.project_id.as_deref())?;
    let holdings = visit.gateway.engine.holdings().await?.into_iter();
    let seen = holdings.filter(|((scope, owner), _)| {
        within.as_ref().is_none_or(|within| within == scope) && visit.caller.enter_owner(owner).is_ok()
    });
    let owners = seen.map(|((scope, owner), holding)| OwnerItem::of(&holding, &scope, &owner));
    let owners = owners.collect();
    Ok(visit.answer(OwnersData { owners }))
}
