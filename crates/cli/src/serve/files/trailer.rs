//! The description of a stored file, behind its content: JSON, the length of the JSON in four bytes, and a mark.

use std::{
    fs::File,
    io::{self, Write},
    os::unix::fs::FileExt as _,
};

use headwater_model::time::EpochMs;
use headwater_store::{FilePath, StoredFile};
use serde::{Deserialize, Serialize};

/// The last bytes of every stored file.
const MARK: &[u8; 8] = b"headw\0\0\x01";
/// Bytes of length and mark.
const END_BYTES: u64 = 12;
/// Far more than a description takes.
const JSON_BYTES_MAX: u32 = 64 * 1024;

#[derive(Serialize, Deserialize)]
struct Trailer {
    path: String,
    size: u64,
    modified_at_ms: EpochMs,
    sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at_ms: Option<EpochMs>,
}

/// Writes a file's description behind its content.
pub(super) fn write(to: &mut impl Write, file: &StoredFile) -> io::Result<()> {
    let json = serde_json::to_vec(&Trailer {
        path: file.path.to_string(),
        size: file.size,
        modified_at_ms: file.modified_at_ms,
        sha256: file.hash.clone(),
        expires_at_ms: file.expires_at_ms,
    })?;
    let length = u32::try_from(json.len()).map_err(io::Error::other)?;
    let all = [&json[..], &length.to_le_bytes(), MARK].concat();
    to.write_all(&all)
}

/// Reads a file's description.
///
/// # Errors
/// `InvalidData` for a file that has none.
pub(super) fn read(file: &File) -> io::Result<StoredFile> {
    let total = file.metadata()?.len();
    let end_at = total
        .checked_sub(END_BYTES)
        .ok_or_else(|| damaged("it is too short"))?;
    let mut end = [0; END_BYTES as usize];
    file.read_exact_at(&mut end, end_at)?;
    let [a, b, c, d, mark @ ..] = end;
    let length = u32::from_le_bytes([a, b, c, d]);
    if mark != *MARK || length > JSON_BYTES_MAX {
        return Err(damaged("it does not end as a stored file does"));
    }
    let json_at = end_at
        .checked_sub(length.into())
        .ok_or_else(|| damaged("it is too short"))?;
    let mut json = vec![0; length as usize];
    file.read_exact_at(&mut json, json_at)?;
    let trailer: Trailer = serde_json::from_slice(&json).map_err(damaged)?;
    if trailer.size != json_at {
        return Err(damaged(
            "its content has another size than its description says",
        ));
    }
    Ok(StoredFile {
        path: trailer.path.parse::<FilePath>().map_err(damaged)?,
        size: trailer.size,
        modified_at_ms: trailer.modified_at_ms,
        hash: trailer.sha256,
        expires_at_ms: trailer.expires_at_ms,
    })
}

fn damaged(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
