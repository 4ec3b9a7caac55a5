//! The circumstances of a message that it does not tell itself, and the bounds of its event.

/// The circumstances of a message, and how much of it goes into the event.
#[derive(Debug, Clone)]
pub struct Options {
    /// An id of the message that nothing else has. The sender's own Message-ID may be anything.
    pub id: String,
    /// The name of the server that took it.
    pub host_name: String,
    /// The moment it was taken, in milliseconds since the epoch.
    pub received_at_ms: u64,
    /// The size of the largest attachment whose content is within the event.
    pub inline_bytes_max: usize,
    /// The size of the longest text and HTML in the event.
    pub text_bytes_max: usize,
}

impl Options {
    /// The usual bounds: attachments of 10,000 bytes, texts of 1 MiB.
    pub fn new(id: impl Into<String>, host_name: impl Into<String>, received_at_ms: u64) -> Self {
        Self {
            id: id.into(),
            host_name: host_name.into(),
            received_at_ms,
            inline_bytes_max: 10_000,
            text_bytes_max: 1024 * 1024,
        }
    }
}
