//! The things that a search finds, as its page and the palette list them.

/// Something that was found.
pub(super) struct Found {
    /// The word for things like it.
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) address: String,
}
