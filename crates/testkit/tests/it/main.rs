//! Everything under `filetests/`, and what of fault injection does not fit a file.

mod vectors;
