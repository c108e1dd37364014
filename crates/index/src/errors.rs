//! Failures of the store as errors for the engine: retry, or rebuild.
//!
//! Owns: that judgement, of panics too. Never: a retry.

use std::error::Error as StdError;
use std::io::ErrorKind;
use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use ports::IndexError;

/// Runs the work. A panic of the store means that its files are damaged.
pub(crate) async fn caught<T>(work: impl Future<Output = Result<T, IndexError>>) -> Result<T, IndexError> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
        let reason = "the store panicked over its files".to_owned();
        Err(IndexError::Unusable { reason })
    })
}

/// Files that are gone, short or unreadable mean a rebuild; a full disk or a bad request does not.
pub(crate) fn judge(error: lance::Error) -> IndexError {
    if means_damage(&error) {
        let reason = model::head(&error.to_string(), 300).to_owned();
        return IndexError::Unusable { reason };
    }
    IndexError::Store(Box::new(error))
}

fn means_damage(error: &lance::Error) -> bool {
    use lance::Error as E;
    match error {
        E::DatasetNotFound { .. } | E::CorruptFile { .. } | E::Schema { .. } => true,
        E::InvalidInput { .. } | E::NotSupported { .. } | E::Timeout { .. } => false,
        _ => io_kind(error).is_none_or(|kind| {
            matches!(
                kind,
                ErrorKind::NotFound | ErrorKind::UnexpectedEof | ErrorKind::InvalidData
            )
        }),
    }
}

/// The kind of the operating system's error, if that is the cause.
fn io_kind(error: &(dyn StdError + 'static)) -> Option<ErrorKind> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return Some(io.kind());
        }
        cause = error.source();
    }
    None
}

/// A failure of the index's own folder.
pub(crate) fn of_files(error: std::io::Error) -> IndexError {
    IndexError::Store(Box::new(error))
}
