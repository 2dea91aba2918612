//! Decompressing an image, never using more memory than what really comes out.

use std::borrow::Cow;
use std::io::Read;

use super::{FatbinError, IMAGE_BYTES, ImageKind, flags};

/// The largest window that a Zstandard frame may ask for, as a binary logarithm: that of the highest ordinary level.
const WINDOW_LOG: u32 = 27;
/// No LZ4 block becomes more than this many times as large.
const LZ4_RATIO: u64 = 255;
/// How much is set aside before the first byte has decompressed.
const FIRST_BYTES: u64 = 1 << 16;

/// The decompressed bytes of a payload.
pub(super) fn unpack<'a>(
    kind: ImageKind,
    flags: u64,
    payload: &'a [u8],
    raw_bytes: u64,
) -> Result<Cow<'a, [u8]>, FatbinError> {
    let fault = |found: String| FatbinError::Unpack { kind, expected: raw_bytes, found };
    let raw = match flags & (flags::LZ4 | flags::ZSTD) {
        0 if flags & 0x1000 == 0 => return Ok(Cow::Borrowed(payload)),
        _ if raw_bytes > IMAGE_BYTES => return Err(fault(format!("a limit of {IMAGE_BYTES}"))),
        flags::LZ4 => lz4(payload, raw_bytes).map_err(fault)?,
        flags::ZSTD => zstd(payload, raw_bytes).map_err(fault)?,
        _ => return Err(FatbinError::Compression { flags }),
    };
    if raw.len() as u64 == raw_bytes { Ok(Cow::Owned(raw)) } else { Err(fault(raw.len().to_string())) }
}

fn lz4(payload: &[u8], raw_bytes: u64) -> Result<Vec<u8>, String> {
    if raw_bytes > (payload.len() as u64).saturating_mul(LZ4_RATIO) {
        return Err(format!("too few for that, {} compressed", payload.len()));
    }
    lz4_flex::block::decompress(payload, raw_bytes as usize).map_err(|error| error.to_string())
}

fn zstd(payload: &[u8], raw_bytes: u64) -> Result<Vec<u8>, String> {
    let text = |error: std::io::Error| error.to_string();
    let mut decoder = zstd::stream::read::Decoder::with_buffer(payload).map_err(text)?;
    decoder.window_log_max(WINDOW_LOG).map_err(text)?;
    let mut raw = Vec::with_capacity(raw_bytes.min(FIRST_BYTES) as usize);
    decoder.take(raw_bytes + 1).read_to_end(&mut raw).map_err(text)?;
    if raw.len() as u64 > raw_bytes {
        return Err("more".to_owned());
    }
    Ok(raw)
}
