//! Variables of device code, which applications name by their shadows on the host.

use super::copies::{copy_line, copy_line_in};
use super::entry::entry_points;
use crate::abi::Out;
use crate::code::Code;
use crate::runtime;

/// Address and size of a variable.
fn place(symbol: u64) -> Result<(u64, u64), Code> {
    runtime::with(|runtime| {
        runtime.check()?;
        runtime.modules.variable(symbol, &mut runtime.gpu, &mut runtime.memory)
    })
}

/// The address of some bytes of a variable.
pub(super) fn inside(symbol: u64, bytes: u64, offset: u64) -> Result<u64, Code> {
    let (address, size) = place(symbol)?;
    let end = offset.checked_add(bytes);
    if end.is_some_and(|end| end <= size) { Ok(address + offset) } else { Err(Code::INVALID_VALUE) }
}

/// Only the host or the device itself can be on the other side.
fn check_kind(kind: i32, other: i32) -> Result<(), Code> {
    if [other, 3, 4].contains(&kind) { Ok(()) } else { Err(Code::INVALID_MEMCPY_DIRECTION) }
}

entry_points! {
    [cudaGetSymbolAddress] (to: Out<u64>, symbol: u64) {
        to.put(place(symbol)?.0)
    }

    [cudaGetSymbolSize] (to: Out<u64>, symbol: u64) {
        to.put(place(symbol)?.1)
    }

    [cudaMemcpyToSymbol cudaMemcpyToSymbol_ptds] (symbol: u64, from: u64, bytes: u64, offset: u64, kind: i32) {
        check_kind(kind, 1)?;
        copy_line(inside(symbol, bytes, offset)?, from, bytes, kind, true)
    }

    [cudaMemcpyToSymbolAsync cudaMemcpyToSymbolAsync_ptsz] (
        symbol: u64, from: u64, bytes: u64, offset: u64, kind: i32, stream: u64,
    ) {
        check_kind(kind, 1)?;
        copy_line_in(inside(symbol, bytes, offset)?, from, bytes, kind, stream)
    }

    [cudaMemcpyFromSymbol cudaMemcpyFromSymbol_ptds] (to: u64, symbol: u64, bytes: u64, offset: u64, kind: i32) {
        check_kind(kind, 2)?;
        copy_line(to, inside(symbol, bytes, offset)?, bytes, kind, true)
    }

    [cudaMemcpyFromSymbolAsync cudaMemcpyFromSymbolAsync_ptsz] (
        to: u64, symbol: u64, bytes: u64, offset: u64, kind: i32, stream: u64,
    ) {
        check_kind(kind, 2)?;
        copy_line_in(to, inside(symbol, bytes, offset)?, bytes, kind, stream)
    }
}
