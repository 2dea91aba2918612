//! The inputs of an application as a space: parameters of its command line, and points, one value for each.
//!
//! ```toml
//! arguments = ["{rows}", "{cols}"]
//! constraints = ["rows * cols <= 100000"]
//!
//! [[parameters]]
//! name = "rows"
//! kind = "int"
//! range = [2, 400]
//! scale = "log"
//! step = 1
//! reference = 43
//! ```
//!
//! An application that reads files has them described beside its arguments: a text, what a command prints, or a copy
//! ([`FileSource`]).
//!
//! A [`Point`] prints as `rows=43,cols=2000`, which is its name everywhere. Draws are a pure function of a seed and a
//! number. Nothing here starts a process or knows a capsule.

mod constraint;
mod error;
mod file;
mod parameter;
mod point;
mod space;

pub use error::SpaceError;
pub use file::FileSource;
pub use parameter::{Kind, Parameter, Scale, Value};
pub use point::Point;
pub use space::{InputLimits, Space};
