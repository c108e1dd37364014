//! A document's form, `multipart/form-data`.
//!
//! Owns: its type, size and time to arrive, and the temporary place of the file. Never: the content of the file,
//! bounds of the other fields (`wire` checks them).

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use axum::http::StatusCode;
use ports::{FileBytes, NoRoom};
use tokio::io::{AsyncWriteExt as _, BufWriter};

use crate::budget::{self, Hold, announced};
use crate::failure::Failure;
use crate::state::Gateway;
use crate::wire::knowledge::DocumentForm;
use crate::wire::{ErrorCode, Invalid};

/// Maximum time for a form to arrive.
const ARRIVAL: Duration = Duration::from_mins(5);
/// Size of the pieces in which a file is written, in bytes.
const PIECE_BYTES: usize = 256 << 10;
/// Maximum length of a field beside the file, in bytes.
const FIELD_BYTES_MAX: usize = 8 << 10;

/// A form with its file.
#[derive(Debug)]
pub(crate) struct Uploaded {
    pub(crate) form: DocumentForm,
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) file: FileBytes,
    /// The file's room, until it is a document.
    pub(crate) hold: Hold,
}

impl FromRequest<Gateway> for Uploaded {
    type Rejection = Failure;

    async fn from_request(mut request: Request<Body>, gateway: &Gateway) -> Result<Self, Failure> {
        let max = gateway.settings.upload_bytes_max;
        let form_max = gateway.settings.form_bytes_max();
        if announced(request.headers()).is_some_and(|bytes| bytes > form_max) {
            return Err(too_large(max));
        }
        let size = budget::size(request.headers(), request.body(), form_max);
        let hold = gateway.uploads.hold(size, &*gateway.clock).await?;
        DefaultBodyLimit::max(form_max).apply(&mut request);
        let parts = Multipart::from_request(request, gateway).await.map_err(|_| {
            Failure::new(
                ErrorCode::UnsupportedFormat,
                "send the file as a form, with `Content-Type: multipart/form-data`",
            )
        })?;
        tokio::select! {
            read = read(parts, max, gateway.settings.upload_folder.as_deref()) => {
                read.map(|read| Self { hold, ..read })
            }
            () = gateway.clock.sleep(ARRIVAL) => {
                Err(Failure::new(ErrorCode::BadRequest, "the form did not arrive in time"))
            }
        }
    }
}

async fn read(mut parts: Multipart, max: usize, folder: Option<&Path>) -> Result<Uploaded, Failure> {
    let mut form = DocumentForm::default();
    let mut file = None;
    while let Some(mut field) = parts.next_field().await.map_err(|error| broken(&error, max))? {
        let name = field.name().unwrap_or_default().to_owned();
        let place = match name.as_str() {
            "file" => {
                let name = field.file_name().unwrap_or_default().to_owned();
                let media_type = field.content_type().unwrap_or_default().to_owned();
                let bytes = match folder {
                    Some(folder) => on_disk(&mut field, max, folder).await?,
                    None => bytes(&mut field, max, || too_large(max), max).await?.into(),
                };
                file = Some((name, media_type, bytes));
                continue;
            }
            "title" => &mut form.title,
            "source_type" => &mut form.source_type,
            "category_id" => &mut form.category_id,
            "app_id" => &mut form.app_id,
            "project_id" => &mut form.project_id,
            _ => continue,
        };
        let too_long = || Invalid::at(name.as_str(), "is too long").into();
        let text = bytes(&mut field, FIELD_BYTES_MAX, too_long, max).await?;
        let text = String::from_utf8(text).map_err(|_| Invalid::at(name.as_str(), "must be UTF-8"))?;
        *place = Some(text);
    }
    let (name, media_type, file) = file.ok_or_else(|| Invalid::at("file", "this field is required"))?;
    Ok(Uploaded {
        form,
        name,
        media_type,
        file,
        hold: Hold::default(),
    })
}

/// Writes a file without a name, which vanishes with its last handle.
async fn on_disk(field: &mut Field<'_>, max: usize, folder: &Path) -> Result<FileBytes, Failure> {
    let failed = |error: io::Error| match NoRoom::of_io(&error) {
        Some(why) => why.into(),
        None => Failure::internal(format!("cannot keep an upload on disk: {error}")),
    };
    let file = tempfile::tempfile_in(folder).map_err(failed)?;
    let mut written = BufWriter::with_capacity(PIECE_BYTES, tokio::fs::File::from_std(file));
    let mut bytes = 0;
    while let Some(piece) = field.chunk().await.map_err(|error| broken(&error, max))? {
        bytes += piece.len();
        if bytes > max {
            return Err(too_large(max));
        }
        written.write_all(&piece).await.map_err(failed)?;
    }
    written.flush().await.map_err(failed)?;
    let file = written.into_inner().into_std().await;
    Ok(FileBytes::Disk(Arc::new(file)))
}

/// A field's bytes, up to `bytes_max`.
async fn bytes(
    field: &mut Field<'_>,
    bytes_max: usize,
    too_many: impl FnOnce() -> Failure,
    file_max: usize,
) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(|error| broken(&error, file_max))? {
        if bytes.len() + chunk.len() > bytes_max {
            return Err(too_many());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn broken(error: &MultipartError, max: usize) -> Failure {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        too_large(max)
    } else {
        Failure::new(ErrorCode::BadRequest, "the form is invalid or ended too early")
    }
}

fn too_large(bytes_max: usize) -> Failure {
    let message = format!("the file has more than {} MiB: split it", bytes_max >> 20);
    Failure::new(ErrorCode::PayloadTooLarge, message)
}
