//! The state of a file that a save changes. Files are looked at, again and again, instead of asking the system to tell:
//! that works in containers and on network drives, too.

use std::path::Path;
use std::time::SystemTime;

/// `None` for a file that is not there.
pub(crate) type Stamp = Option<(SystemTime, u64)>;

pub(crate) fn stamp(file: &Path) -> Stamp {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
