//! Pointers of the application, as parameters of entry points.
//!
//! These types have the form of C pointers and no constructor: a value exists only because an application passed it
//! to an entry point. By CUDA's contract such a pointer is null or points to what the call documents; null is checked
//! here, and nothing checks the rest, here or in the original. That promise is the reason of every `unsafe` in this
//! file.

use std::ffi::{CStr, c_char, c_void};

use crate::code::Code;

/// Types whose every bit pattern is a value, and which have no padding that matters.
///
/// # Safety
/// Implementors are `repr(C)` or primitive, and hold only integers, floats, arrays and pointers as integers.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: primitive integers and floats.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for f32 {}
// SAFETY: an array of integers.
unsafe impl Plain for [u64; 8] {}

/// Where the application wants a result.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// Stores a result.
    pub(crate) fn put(self, value: T) -> Result<(), Code> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so the application vouches that a `T` may be written there; alignment is not assumed.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Stores a result if the application wants it.
    pub(crate) fn put_if_wanted(self, value: T) {
        // Null means that it does not.
        let _ = self.put(value);
    }

    /// The same place for another type of result.
    pub(crate) fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// The place of an element, if it is of an array.
    pub(crate) fn at(self, index: usize) -> Self {
        if self.0.is_null() { self } else { Self(self.0.wrapping_add(index)) }
    }

    /// The place of something that lies so many bytes behind the beginning of this.
    pub(crate) fn behind<U>(self, bytes: usize) -> Out<U> {
        Out(if self.0.is_null() { std::ptr::null_mut() } else { self.0.wrapping_byte_add(bytes).cast() })
    }

    /// The same place, to be read.
    pub(crate) fn read(self) -> In<T> {
        In(self.0.cast_const())
    }

    /// A place whose address an entry point was passed as a number, because versions of CUDA differ in what it is.
    pub(crate) fn of_application(address: u64) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(address as usize))
    }

    /// Whether it is null.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl<T: Plain> Out<T> {
    /// What stands there, for parameters that go both ways.
    pub(crate) fn get(self) -> Result<T, Code> {
        In(self.0.cast_const()).get()
    }
}

impl Out<u8> {
    /// Stores bytes.
    pub(crate) fn put_bytes(self, bytes: &[u8]) -> Result<(), Code> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so the application vouches for the room that the call documents, which is `bytes.len()`.
        unsafe { self.0.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }
}

/// Where the application has put an argument.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T> In<T> {
    /// What lies so many bytes behind the beginning of this.
    pub(crate) fn behind<U>(self, bytes: usize) -> In<U> {
        In(if self.0.is_null() { std::ptr::null() } else { self.0.wrapping_byte_add(bytes).cast() })
    }
}

impl<T: Plain> In<T> {
    /// The argument.
    pub(crate) fn get(self) -> Result<T, Code> {
        self.at(0)
    }

    /// The argument at a place of an array.
    pub(crate) fn at(self, index: usize) -> Result<T, Code> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so the application vouches for an array of at least `index + 1` values; any bits are a `T`.
        Ok(unsafe { self.0.wrapping_add(index).read_unaligned() })
    }
}

/// A text of the application.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// The text; what is not UTF-8 is replaced.
    pub(crate) fn get(self) -> Result<String, Code> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so the application vouches for a text that ends in a zero.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

/// The arguments of a kernel: an array of pointers to them.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Args(*const *const c_void);

impl Args {
    /// An array of our own, to be handed to the application.
    pub(crate) fn ours(address: u64) -> Self {
        Self(std::ptr::with_exposed_provenance(address as usize))
    }

    /// The bytes of one argument.
    pub(crate) fn read(self, index: usize, bytes: usize) -> Result<Vec<u8>, Code> {
        let pointer = In(self.0.cast::<u64>()).at(index)?;
        let pointer = std::ptr::with_exposed_provenance::<u8>(pointer as usize);
        if pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so the application vouches for an argument of the size that the kernel declares.
        Ok(unsafe { std::slice::from_raw_parts(pointer, bytes) }.to_vec())
    }
}

/// Bytes of the application that stay where they are: device code in its data section.
///
/// # Safety
/// The application promises that `bytes` bytes from `address` are readable and do not change until it unregisters them.
pub(crate) unsafe fn code_bytes(address: u64, bytes: usize) -> &'static [u8] {
    // SAFETY: passed on to the caller.
    unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address as usize), bytes) }
}

/// A value at an address that the application handed over as part of a structure.
///
/// # Safety
/// A `T` must be readable at `address`, if it is not zero.
pub(crate) unsafe fn value_at<T: Plain>(address: u64) -> Result<T, Code> {
    In(std::ptr::with_exposed_provenance::<T>(address as usize)).get()
}

/// A text at an address that the application handed over.
///
/// # Safety
/// A text that ends in a zero must be readable at `address`, if it is not zero.
pub(crate) unsafe fn text_at(address: u64) -> Result<String, Code> {
    Text(std::ptr::with_exposed_provenance(address as usize)).get()
}

/// Stores a value at an address that the application handed over.
///
/// # Safety
/// A `T` must be writable at `address`, if it is not zero.
pub(crate) unsafe fn store_at<T: Plain>(address: u64, value: T) -> Result<(), Code> {
    Out(std::ptr::with_exposed_provenance_mut::<T>(address as usize)).put(value)
}
