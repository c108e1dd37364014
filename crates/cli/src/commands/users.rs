//! `quipu users`: everybody who has memory in the root.

use gateway::wire::owners::{OwnerItem, OwnersData};

use super::Desk;
use crate::api::Api;
use crate::error::{Exit, Failure};
use crate::output::{self, TableCell, say};

pub(super) async fn users(desk: &Desk, api: &Api) -> Result<Exit, Failure> {
    let data: OwnersData = api.get("/owners").await?;
    desk.tell(&data, || {
        if data.owners.is_empty() {
            return say!("nobody has memories yet: `quipu add --flush \"…\"` writes the first");
        }
        output::table(
            [
                "kind", "id", "app", "project", "memories", "waiting", "files", "size",
            ],
            data.owners.iter().map(row),
        )
    })
}

fn row(owner: &OwnerItem) -> [TableCell; 8] {
    [
        TableCell::text(&owner.kind),
        TableCell::text(&owner.id),
        TableCell::text(&owner.app_id),
        TableCell::text(&owner.project_id),
        TableCell::number(owner.memories),
        TableCell::number(owner.waiting),
        TableCell::number(owner.files),
        TableCell::number(output::size(owner.bytes)),
    ]
}
