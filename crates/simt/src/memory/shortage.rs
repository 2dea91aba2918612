//! Whether a launch can go on where the host has no memory left.

/// What comes of a page that is to be touched where the host has no memory for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shortage {
    /// The end of the process.
    #[default]
    Fatal,
    /// It is not touched.
    Expected,
    /// The same, and there was such a page.
    Met,
}
