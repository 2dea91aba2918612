//! The runtimes that we stand in for, and our own.

/// The name of each library, and the major version of CUDA.
pub(super) const VERSIONS: [(&str, u32); 2] = [("libcudart.so.12", 12), ("libcudart.so.13", 13)];

/// The file name that cargo gives our runtime.
pub(super) const FILE_NAME: &str = "libcudart.so";
