//! Which memory folder a ledger belongs to.
//!
//! Owns: the id beside the ledger, and the refusal of a memory folder with another id or none. Never: the id's form
//! (`vault`).

use std::io;
use std::path::Path;

use anyhow::Context as _;
use ports::{FileChanges, Ids, NoRoom};
use vault::{ID_FILE, VaultId};

use crate::error::{Failure, Hinted as _};
use crate::private;
use crate::root::MEMORY;

/// The id of the memory folder that the ledger beside it belongs to.
pub(crate) const FILE: &str = "memory.id";

/// The name of the ledger among those that write to the memory folder; it stays away while there is no other.
pub(crate) const NAME: &str = "memory.name";

/// The id of a root's memory folder, which is the one that the ledger belongs to. A root without an id gets one if nothing
/// speaks against it; none on a disk that takes no writes.
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

/// Refuses a root whose ledger belongs to another memory folder than the one that is there.
pub(crate) fn check(root: &Path) -> Result<(), Failure> {
    match ids_of(root)? {
        (Some(known), there) if there.as_ref() != Some(&known) => Err(missing(root)),
        _ => Ok(()),
    }
}

/// Makes the memory folder that is there, or a new one, the ledger's.
pub(crate) fn accept(root: &Path, ids: &dyn Ids) -> Result<(), Failure> {
    // A file that cannot be read is replaced.
    let [known, there] = [root.join(FILE), root.join(MEMORY).join(ID_FILE)].map(|file| VaultId::read(&file));
    let id = there.ok().flatten().or(known.ok().flatten());
    let id = id.unwrap_or_else(|| VaultId::new(ids.next(), ids.next()));
    adopt(root, &id).map_err(|error| unwritable(root, error))
}

/// First the folder's: who finds it alone takes it over.
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

/// The ledger's id and the folder's.
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
