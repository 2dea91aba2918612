//! Kernel tests.
