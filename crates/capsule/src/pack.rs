//! Packing and unpacking one part: Zstandard, always the same way, and never more memory than what really decompresses.

use std::io::Read;

use crate::container::Container;
use crate::format::{PartEntry, Placed, WINDOW_LOG};
use crate::{Digest, Problem};

/// Fixed, so that the same content gives the same bytes.
const LEVEL: i32 = 9;

/// How much is set aside before the first byte has decompressed.
const FIRST_BYTES: u64 = 1 << 16;

/// Compresses a part, and says what the table has to say about it.
pub(crate) fn pack(raw: &[u8], digest: Digest) -> Result<(PartEntry, Vec<u8>), Problem> {
    let io = |error| Problem::Io { doing: "compressing a part", error };
    let mut compressor = zstd::bulk::Compressor::new(LEVEL).map_err(io)?;
    let packed = compressor.compress(raw).map_err(io)?;
    let entry = PartEntry {
        packed_bytes: packed.len() as u64,
        raw_bytes: raw.len() as u64,
        packed: Digest::of(&packed),
        raw: digest,
    };
    Ok((entry, packed))
}

/// Reads a part, checks it against the table, and decompresses it.
pub(crate) fn read(container: &Container, placed: &Placed) -> Result<Vec<u8>, Problem> {
    let Placed { part, offset, entry } = *placed;
    let packed = container.read(offset, entry.packed_bytes)?;
    let found = Digest::of(&packed);
    if found != entry.packed {
        return Err(Problem::Damaged { part, offset, expected: entry.packed, found });
    }
    let problem = |(expected, found)| Problem::Packing { part, offset, expected, found };
    unpack(&packed, &entry).map_err(problem)
}

/// The raw bytes of a packed part, or what was expected and what was found.
fn unpack(packed: &[u8], entry: &PartEntry) -> Result<Vec<u8>, (String, String)> {
    let frame = |error: std::io::Error| ("one Zstandard frame".to_owned(), error.to_string());
    let mut decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(frame)?.single_frame();
    decoder.window_log_max(WINDOW_LOG).map_err(frame)?;
    let mut raw = Vec::with_capacity(entry.raw_bytes.min(FIRST_BYTES) as usize);
    decoder.by_ref().take(entry.raw_bytes + 1).read_to_end(&mut raw).map_err(frame)?;
    if raw.len() as u64 != entry.raw_bytes {
        // It was stopped one byte too late, so a larger number is not known.
        let more = raw.len() as u64 > entry.raw_bytes;
        let found = if more { "more".to_owned() } else { raw.len().to_string() };
        return Err((format!("{} raw bytes", entry.raw_bytes), found));
    }
    let rest = decoder.finish().len();
    if rest != 0 {
        return Err(("one Zstandard frame".to_owned(), format!("{rest} bytes behind it")));
    }
    let found = Digest::of(&raw);
    if found != entry.raw {
        Err((format!("raw digest {:.16}…", entry.raw), format!("{found:.16}…")))
    } else {
        Ok(raw)
    }
}
