//! PTX text to [`isa::Module`] and back.
//!
//! [`parse`] reads what nvcc writes and what people write as inline assembly. It never panics, takes time linear in
//! the text, and goes on after a mistake: [`Errors`] holds all that were found, each with its place, what was
//! expected there and what to do next. What Beamline cannot execute faithfully is refused here, by name; nothing is
//! skipped silently. After a module parses, [`isa::verify`] finds no defect in it.
//!
//! Of a module of many kernels few may be launched. [`parse_parts`] refuses the functions with mistakes in their bodies
//! one by one, and reads the rest.
//!
//! [`print()`] writes a module that parses back to an equal one, and that the vendor's assembler accepts where it
//! accepted the original.
//!
//! What a module does not keep, because no result depends on it: comments, `.pragma` in bodies and between
//! functions, timestamps of `.file`, `.attribute` (managed and unified variables are plain ones), the address space
//! that `.ptr` promises, registers that no instruction names, debug sections other than the names that line tables
//! use (and with them `debug` in `.target`), and the nesting of scopes: names declared again in an inner scope get a suffix. Uses of an `.alias` become
//! uses of the function behind it.
//!
//! Reference: PTX ISA 9.0.

mod error;
mod parse;
mod print;
mod token;

pub use error::{Diagnostic, Errors};
pub use parse::Reading;

/// Reads a module. `name` is what errors call the text, usually its file name.
///
/// # Errors
/// Everything that is wrong with the text, or not supported by Beamline, up to a cap.
pub fn parse(name: &str, text: &str) -> Result<isa::Module, Errors> {
    parse::module(name, text)
}

/// Reads a module of which some functions may be refused: those with mistakes in their bodies.
///
/// # Errors
/// Everything that is wrong, if some of it is outside of bodies.
pub fn parse_parts(name: &str, text: &str) -> Result<Reading, Errors> {
    parse::parts(name, text)
}

/// Writes a module as PTX.
///
/// Names are taken as they are: each must be unique in its function, as [`parse()`] makes them. Branch targets
/// without a label get one.
#[must_use]
pub fn print(module: &isa::Module) -> String {
    print::module(module)
}

/// Writes one instruction of a function as PTX, on one line; nothing if there is no such instruction.
#[must_use]
pub fn print_instruction(module: &isa::Module, function: &isa::Function, pc: isa::Pc) -> String {
    print::instruction(module, function, pc)
}
