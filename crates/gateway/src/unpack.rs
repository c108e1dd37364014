//! Compressed bodies.
//!
//! Owns: the supported encodings, the bound of the decompressed size. Never: the meaning of the bytes.

use std::io::{self, BufReader, Read};

use axum::body::Bytes;
use axum::http::header::{CONTENT_ENCODING, HeaderMap};
use flate2::read::{MultiGzDecoder, ZlibDecoder};

use crate::failure::Failure;
use crate::wire::ErrorCode;

/// The base 2 logarithm of the maximum window of a zstd frame, in bytes.
const ZSTD_WINDOW_LOG_MAX: u32 = 25;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Gzip,
    Deflate,
    Zstd,
}

/// Decompresses a body, to at most `bytes_max` bytes.
pub(crate) async fn unpacked(headers: &HeaderMap, body: Bytes, bytes_max: usize) -> Result<Bytes, Failure> {
    let Some(encoding) = encoding(headers)? else {
        return Ok(body);
    };
    let done = tokio::task::spawn_blocking(move || unpack(encoding, &body, bytes_max)).await;
    match done.map_err(|error| Failure::internal(error.to_string()))? {
        Ok(unpacked) if unpacked.len() > bytes_max => Err(Failure::too_large(bytes_max)),
        Ok(unpacked) => Ok(unpacked.into()),
        Err(error) => Err(Failure::new(
            ErrorCode::BadRequest,
            format!("cannot decompress the body: {error}"),
        )),
    }
}

fn encoding(headers: &HeaderMap) -> Result<Option<Encoding>, Failure> {
    let Some(value) = headers.get(CONTENT_ENCODING) else {
        return Ok(None);
    };
    let value = value.to_str().unwrap_or_default().trim();
    match value.to_ascii_lowercase().as_str() {
        "" | "identity" => Ok(None),
        "gzip" | "x-gzip" => Ok(Some(Encoding::Gzip)),
        "deflate" => Ok(Some(Encoding::Deflate)),
        "zstd" => Ok(Some(Encoding::Zstd)),
        other => Err(Failure::new(
            ErrorCode::UnsupportedFormat,
            format!("the body is encoded as `{other}`: send it plain, or as gzip, deflate or zstd"),
        )),
    }
}

/// Decompresses at most one byte more than the maximum, so that the caller can detect a larger body.
fn unpack(encoding: Encoding, body: &[u8], bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    let limit = bytes_max as u64 + 1;
    match encoding {
        Encoding::Gzip => MultiGzDecoder::new(body).take(limit).read_to_end(&mut unpacked),
        Encoding::Deflate => ZlibDecoder::new(body).take(limit).read_to_end(&mut unpacked),
        Encoding::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(BufReader::new(body))?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            decoder.take(limit).read_to_end(&mut unpacked)
        }
    }?;
    Ok(unpacked)
}
