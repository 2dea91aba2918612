//! The state of one page.

use super::page::Page;
use std::sync::Arc;

/// A page: not touched, read, or written.
#[derive(Clone, Debug, Default)]
pub(super) enum Slot {
    #[default]
    Absent,
    Shared(Arc<Page>),
    Owned(Box<Page>),
}

impl Slot {
    pub(super) fn is_owned(&self) -> bool {
        matches!(self, Self::Owned(_))
    }

    #[inline(always)]
    pub(super) fn bytes(&self) -> Option<&Page> {
        match self {
            Self::Shared(page) => Some(page),
            Self::Owned(page) => Some(page),
            Self::Absent => None,
        }
    }

    #[inline(always)]
    pub(super) fn bytes_mut(&mut self) -> Option<&mut Page> {
        match self {
            Self::Owned(page) => Some(page),
            _ => None,
        }
    }

    /// The page, if it was touched; one that was written becomes a shared one.
    pub(super) fn share(&mut self) -> Option<Arc<Page>> {
        self.freeze().or_else(|| match self {
            Self::Shared(page) => Some(Arc::clone(page)),
            _ => None,
        })
    }

    /// Turns a written page into a shared one; the page, if it was written.
    pub(super) fn freeze(&mut self) -> Option<Arc<Page>> {
        match std::mem::take(self) {
            Self::Owned(page) => {
                let page: Arc<Page> = Arc::from(page);
                *self = Self::Shared(Arc::clone(&page));
                Some(page)
            }
            other => {
                *self = other;
                None
            }
        }
    }
}
