//! The memory folder of a ledger.
//!
//! Owns: the id next to the ledger, and the refusal of a memory folder without an id or with another one. Never: the id's format
//! (`vault`).

use std::io;
use std::path::Path;

use anyhow::Context as _;
use ports::{FileChanges, Ids, NoRoom};
use vault::{ID_FILE, VaultId};

use crate::error::{Failure, Hinted as _};
use crate::private;
use crate::root::MEMORY;

/// File with the id of the memory folder that belongs to the ledger next to it.
pub(crate) const FILE: &str = "memory.id";

/// File with the ledger's name among the writers of the memory folder; it does not exist while there is no other writer.
pub(crate) const NAME: &str = "memory.name";

/// The id of a root's memory folder; a failure if the folder does not belong to the ledger. A root without an id gets one, if the
/// ledger records no file or one of the recorded files exists. `None` on a full or read-only disk.
pub(crate) async fn checked(
    root: &Path,
    ledger: &impl FileChanges,
    ids: &dyn Ids,
) -> Result<Option<VaultId>, Failure> {
    let (known, there) = ids_of(root)?;
    if known.is_some() && known == there {
        return Ok(known);
    }
    let recorded = ledger.stats().await?;
    let memory = root.join(MEMORY);
    let belongs = match (&known, &there) {
        (Some(_), Some(_)) => false,
        (Some(_), None) => recorded.is_empty() && memory.is_dir(),
        (None, _) => recorded.is_empty() || recorded.iter().any(|file| memory.join(&*file.path).exists()),
    };
    if !belongs {
        return Err(missing(root));
    }
    let id = there
        .or(known)
        .unwrap_or_else(|| VaultId::new(ids.next(), ids.next()));
    match adopt(root, &id) {
        Ok(()) => Ok(Some(id)),
        Err(error) if NoRoom::of_io(&error).is_some() => Ok(None),
        Err(error) => Err(unwritable(root, error)),
    }
}

/// Refuses a root whose ledger belongs to another memory folder.
pub(crate) fn check(root: &Path) -> Result<(), Failure> {
    match ids_of(root)? {
        (Some(known), there) if there.as_ref() != Some(&known) => Err(missing(root)),
        _ => Ok(()),
    }
}

/// Makes the present memory folder, or a new one, the ledger's.
pub(crate) fn accept(root: &Path, ids: &dyn Ids) -> Result<(), Failure> {
    // An unreadable id file is replaced.
    let [known, there] = [root.join(FILE), root.join(MEMORY).join(ID_FILE)].map(|file| VaultId::read(&file));
    let id = there.ok().flatten().or(known.ok().flatten());
    let id = id.unwrap_or_else(|| VaultId::new(ids.next(), ids.next()));
    adopt(root, &id).map_err(|error| unwritable(root, error))
}

/// Writes the folder's id first: if only that one exists, the next start adopts it.
fn adopt(root: &Path, id: &VaultId) -> io::Result<()> {
    let memory = root.join(MEMORY);
    private::folder(&memory)?;
    for file in [memory.join(ID_FILE), root.join(FILE)] {
        if VaultId::read(&file).ok().flatten().as_ref() != Some(id) {
            id.write(&file)?;
        }
    }
    Ok(())
}

/// The id next to the ledger, and the id in the folder.
fn ids_of(root: &Path) -> Result<(Option<VaultId>, Option<VaultId>), Failure> {
    let read = |file: &Path| {
        let read = VaultId::read(file).with_context(|| format!("cannot read `{}`", file.display()));
        read.hint(ACCEPT)
    };
    Ok((read(&root.join(FILE))?, read(&root.join(MEMORY).join(ID_FILE))?))
}

const ACCEPT: &str =
    "mount it or put it back; to use the folder as it is, with deletions, run `quipu sync --accept-missing`";

fn missing(root: &Path) -> Failure {
    let memory = root.join(MEMORY);
    Failure::failed(format!(
        "the memory folder `{}` is missing or is not the one this ledger belongs to; nothing was changed",
        memory.display()
    ))
    .hint(ACCEPT)
}

fn unwritable(root: &Path, error: io::Error) -> Failure {
    let memory = root.join(MEMORY);
    Failure::from(error).context(format!("cannot write the id of `{}`", memory.display()))
}
