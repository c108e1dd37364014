//! Decoded streams.
//!
//! Owns: the filters of text and of object streams, predictors, and the limit on the decoded size
//! of all. Never: pictures.

use std::cell::Cell;
use std::io::{ErrorKind, Read};

use flate2::read::{DeflateDecoder, ZlibDecoder};

use super::object::{Dict, Value, hex_bytes, is_blank};
use crate::{INFLATED_MAX_BYTES, Unreadable};

/// Maximum number of filters of one stream; more would only multiply its size.
const FILTERS_MAX: usize = 4;

/// Remaining bytes that can be decompressed from one file.
#[derive(Debug)]
pub(super) struct Room(Cell<usize>);

impl Room {
    pub(super) fn new() -> Self {
        Self(Cell::new(INFLATED_MAX_BYTES))
    }

    /// The content of the stream; empty for a picture or an unknown filter, the readable part of a
    /// damaged stream.
    pub(super) fn unpack<'v>(
        &self,
        raw: &[u8],
        dict: &'v Dict,
        resolve: &impl Fn(&'v Value) -> &'v Value,
    ) -> Result<Option<Vec<u8>>, Unreadable> {
        let entry = |long: &[u8], short: &[u8]| {
            dict.get(long)
                .or_else(|| dict.get(short))
                .map_or(&Value::Null, resolve)
        };
        let filters = several(entry(b"Filter", b"F"));
        let parameters = several(entry(b"DecodeParms", b"DP"));
        if filters.len() > FILTERS_MAX {
            return Err(Unreadable::TooComplex);
        }
        // A stream is decoded anew at each use, so each use costs room.
        self.take(raw.len())?;
        let mut data = raw.to_vec();
        for (nth, filter) in filters.iter().enumerate() {
            let parameters = parameters
                .get(nth)
                .and_then(|parameters| resolve(parameters).dict());
            data = match resolve(filter).name().unwrap_or_default() {
                b"FlateDecode" | b"Fl" => self.inflate(&data)?,
                b"LZWDecode" | b"LZW" => self.lzw(&data, parameters)?,
                b"ASCII85Decode" | b"A85" => ascii85(&data),
                b"ASCIIHexDecode" | b"AHx" => {
                    hex_bytes(data.split(|byte| *byte == b'>').next().unwrap_or_default())
                }
                b"RunLengthDecode" | b"RL" => self.run_length(&data)?,
                _ => return Ok(None),
            };
            if let Some(parameters) = parameters {
                data = unpredict(data, parameters);
            }
        }
        Ok(Some(data))
    }

    fn take(&self, bytes: usize) -> Result<(), Unreadable> {
        self.0
            .set(self.0.get().checked_sub(bytes).ok_or(Unreadable::TooMuchText)?);
        Ok(())
    }

    fn inflate(&self, data: &[u8]) -> Result<Vec<u8>, Unreadable> {
        let mut unpacked = Vec::new();
        // One byte more than the room, to distinguish too much from just enough.
        let most = self.0.get() as u64 + 1;
        // The output before the damage stays in `unpacked`.
        let mut read = ZlibDecoder::new(data).take(most).read_to_end(&mut unpacked);
        if read.is_err() && unpacked.is_empty() {
            read = DeflateDecoder::new(data).take(most).read_to_end(&mut unpacked);
        }
        if read.is_err_and(|error| error.kind() == ErrorKind::OutOfMemory) {
            return Err(Unreadable::NeedsMemory);
        }
        self.take(unpacked.len())?;
        Ok(unpacked)
    }

    fn run_length(&self, data: &[u8]) -> Result<Vec<u8>, Unreadable> {
        let mut unpacked = Vec::new();
        let mut rest = data;
        while let [length, after @ ..] = rest {
            let length = usize::from(*length);
            let (run, next) = match length {
                128 => break,
                0..128 => after.split_at((length + 1).min(after.len())),
                _ => after.split_at(after.len().min(1)),
            };
            let times = if length > 128 { 257 - length } else { 1 };
            self.take(run.len() * times)?;
            unpacked.extend(run.repeat(times));
            rest = next;
        }
        Ok(unpacked)
    }

    fn lzw(&self, data: &[u8], parameters: Option<&Dict>) -> Result<Vec<u8>, Unreadable> {
        let early = parameters
            .and_then(|dict| dict.get(&b"EarlyChange"[..]))
            .and_then(Value::index)
            .unwrap_or(1)
            .min(1);
        // Each entry of the table is a range of the earlier output.
        let mut unpacked: Vec<u8> = Vec::new();
        let mut table: Vec<(usize, usize)> = Vec::new();
        let mut last: Option<(usize, usize)> = None;
        let (mut buffer, mut bits, mut width) = (0_u32, 0_u32, 9_u32);
        for byte in data {
            buffer = (buffer << 8 | u32::from(*byte)) & 0x00ff_ffff;
            bits += 8;
            if bits < width {
                continue;
            }
            bits -= width;
            let code = (buffer >> bits) as usize & ((1 << width) - 1);
            let start = unpacked.len();
            match (code, last) {
                (256, _) => {
                    table.clear();
                    last = None;
                    width = 9;
                    continue;
                }
                (257, _) => break,
                (0..256, _) => unpacked.push(code.to_le_bytes()[0]),
                (_, Some((from, length))) if code - 258 == table.len() => {
                    unpacked.extend_from_within(from..from + length);
                    unpacked.extend_from_within(from..=from);
                }
                _ => match table.get(code - 258) {
                    Some((from, length)) => unpacked.extend_from_within(*from..from + length),
                    None => break,
                },
            }
            self.take(unpacked.len() - start)?;
            // The output of the last code and the byte after it, which are neighbours.
            if let Some((from, length)) = last.filter(|_| table.len() < 4096 - 258) {
                table.push((from, length + 1));
            }
            last = Some((start, unpacked.len() - start));
            width = match table.len() + 258 + early {
                0..512 => 9,
                512..1024 => 10,
                1024..2048 => 11,
                _ => 12,
            };
        }
        Ok(unpacked)
    }
}

fn several(value: &Value) -> &[Value] {
    match value {
        Value::Null => &[],
        Value::List(list) => list,
        one => std::slice::from_ref(one),
    }
}

fn ascii85(data: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    let mut group: Vec<u8> = Vec::new();
    let mut write = |group: &[u8]| {
        let padded = group.iter().copied().chain(std::iter::repeat(84)).take(5);
        let word = padded.fold(0_u32, |word, digit| {
            word.wrapping_mul(85).wrapping_add(u32::from(digit))
        });
        unpacked.extend(&word.to_be_bytes()[..group.len() - 1]);
    };
    for byte in data.iter().copied().filter(|byte| !is_blank(*byte)) {
        match byte {
            b'z' if group.is_empty() => write(&[0; 5]),
            b'!'..=b'u' => group.push(byte - b'!'),
            _ => break,
        }
        if group.len() == 5 {
            write(&group);
            group.clear();
        }
    }
    if group.len() > 1 {
        write(&group);
    }
    unpacked
}

/// Undoes the PNG predictors; the one of TIFF is used for pictures only.
fn unpredict(data: Vec<u8>, parameters: &Dict) -> Vec<u8> {
    let entry = |key: &[u8], default: usize| {
        parameters
            .get(key)
            .and_then(Value::index)
            .unwrap_or(default)
            .clamp(1, 1 << 16)
    };
    if entry(b"Predictor", 1) < 10 {
        return data;
    }
    let pixel_bits = entry(b"Colors", 1) * entry(b"BitsPerComponent", 8);
    let back = pixel_bits.div_ceil(8);
    let width = (pixel_bits * entry(b"Columns", 1)).div_ceil(8);
    let mut unpacked: Vec<u8> = Vec::with_capacity(data.len());
    for row in data.chunks(width + 1) {
        let [kind, row @ ..] = row else { break };
        let start = unpacked.len();
        for (at, byte) in row.iter().enumerate() {
            let left = if at >= back {
                unpacked[start + at - back]
            } else {
                0
            };
            let above = |at: usize| {
                if start >= width {
                    unpacked[start - width + at]
                } else {
                    0
                }
            };
            let up = above(at);
            let corner = if at >= back { above(at - back) } else { 0 };
            let guess = match kind {
                1 => left,
                2 => up,
                3 => left.midpoint(up),
                4 => paeth(left, up, corner),
                _ => 0,
            };
            unpacked.push(byte.wrapping_add(guess));
        }
    }
    unpacked
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let guess = i16::from(left) + i16::from(up) - i16::from(corner);
    [left, up, corner]
        .into_iter()
        .min_by_key(|byte| (guess - i16::from(*byte)).abs())
        .unwrap_or(0)
}
