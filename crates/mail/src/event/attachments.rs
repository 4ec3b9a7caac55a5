//! The attachments of a message: their safe names, their content, and their account in the event.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::{body::is_text, mime::Part, transfer::Transfer};

/// The attachments whose content may be within the event, in units of the largest such one.
const INLINE_TOTAL_FACTOR: usize = 100;
/// The longest file name, below what file systems allow.
const NAME_BYTES_MAX: usize = 150;

/// An attachment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// A name that can be used for a file: without folders and control characters, never empty.
    pub filename: String,
    /// The type that the sender gave it, such as `image/png`.
    pub content_type: String,
    /// The content.
    pub bytes: Bytes,
    disposition: String,
    content_id: Option<String>,
    is_related: bool,
}

/// The attachments among the parts.
pub(super) fn of(parts: &[Part<'_>]) -> Vec<Attachment> {
    let mut attachments = Vec::new();
    for part in parts.iter().filter(|part| !is_text(part)) {
        attachments.push(attachment(part, attachments.len() + 1));
    }
    attachments
}

fn attachment(part: &Part<'_>, number: usize) -> Attachment {
    let content_type = part.content_type.value.clone();
    let given = part.filename.as_deref().and_then(safe_name);
    let bytes = match part.transfer {
        Transfer::AsIs => Bytes::copy_from_slice(part.body),
        transfer => Bytes::from(transfer.decoded(part.body).into_owned()),
    };
    Attachment {
        filename: given.unwrap_or_else(|| generated_name(number, &content_type)),
        content_type,
        bytes,
        disposition: part
            .disposition
            .clone()
            .unwrap_or_else(|| "attachment".to_owned()),
        content_id: part.content_id.clone(),
        is_related: part.is_related,
    }
}

/// The `attachments` of the event. Content is within it up to so many bytes each.
pub(super) fn json(attachments: &[Attachment], inline_max: usize) -> Value {
    let mut inline_left = inline_max.saturating_mul(INLINE_TOTAL_FACTOR);
    let list = attachments.iter().map(|attachment| {
        let size = attachment.bytes.len();
        let is_inline = size <= inline_max && size <= inline_left;
        if is_inline {
            inline_left -= size;
        }
        account(attachment, is_inline)
    });
    list.collect()
}

fn account(attachment: &Attachment, is_inline: bool) -> Value {
    let mut json = Map::new();
    let mut add = |name: &str, value: Value| json.insert(name.to_owned(), value);
    add("filename", attachment.filename.clone().into());
    add("contentType", attachment.content_type.clone().into());
    add("contentDisposition", attachment.disposition.clone().into());
    if let Some(id) = &attachment.content_id {
        add("contentId", id.clone().into());
        add("cid", id.trim_matches(['<', '>']).into());
    }
    if attachment.is_related {
        add("related", true.into());
    }
    add("size", attachment.bytes.len().into());
    if is_inline {
        add("content", BASE64_STANDARD.encode(&attachment.bytes).into());
    }
    add("contentTruncated", (!is_inline).into());
    json.into()
}

/// A name without folders, control characters and marks that turn the direction of text. Nothing if nothing
/// is left of it.
fn safe_name(given: &str) -> Option<String> {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_safe = |character: &char| {
        let turns_text = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        !character.is_control() && !turns_text
    };
    let name: String = last.chars().filter(is_safe).collect();
    let name = name.trim();
    let has_substance = !name.is_empty() && name.chars().any(|character| character != '.');
    has_substance.then(|| shortened(name))
}

/// A name cut in the middle, so that its ending stays.
fn shortened(name: &str) -> String {
    if name.len() <= NAME_BYTES_MAX {
        return name.to_owned();
    }
    let ending = match name.rfind('.') {
        Some(dot) if name.len() - dot <= 16 => &name[dot..],
        _ => "",
    };
    let end = name.floor_char_boundary(NAME_BYTES_MAX - ending.len());
    format!("{}{ending}", &name[..end])
}

fn generated_name(number: usize, content_type: &str) -> String {
    let ending = match content_type {
        "application/json" => ".json",
        "application/pdf" => ".pdf",
        "application/pgp-signature" => ".asc",
        "application/pkcs7-signature" | "application/x-pkcs7-signature" => ".p7s",
        "application/zip" => ".zip",
        "image/gif" => ".gif",
        "image/jpeg" => ".jpg",
        "image/png" => ".png",
        "message/rfc822" => ".eml",
        "text/calendar" => ".ics",
        "text/csv" => ".csv",
        "text/html" => ".html",
        "text/plain" => ".txt",
        _ => "",
    };
    format!("attachment-{number}{ending}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_safe_for_files() {
        for (given, wanted) in [
            ("report.pdf", Some("report.pdf")),
            ("../../etc/passwd", Some("passwd")),
            ("C:\\Users\\x\\a.doc", Some("a.doc")),
            ("a\r\nb\0c.txt", Some("abc.txt")),
            ("evil\u{202e}fdp.exe", Some("evilfdp.exe")),
            ("  spaced.txt ", Some("spaced.txt")),
            (".profile", Some(".profile")),
            ("..", None),
            ("a/..", None),
            ("folder/", None),
            ("", None),
        ] {
            assert_eq!(safe_name(given).as_deref(), wanted, "{given:?}");
        }
    }

    #[test]
    fn a_long_name_keeps_its_ending() {
        let name = safe_name(&format!("{}.tar.gz", "ä".repeat(300))).unwrap();
        assert!(
            name.len() <= NAME_BYTES_MAX && name.ends_with(".gz"),
            "{name}"
        );
        let name = safe_name(&"a".repeat(300)).unwrap();
        assert_eq!(name.len(), NAME_BYTES_MAX);
    }

    fn sized(size: usize) -> Attachment {
        Attachment {
            filename: "a.bin".to_owned(),
            content_type: "application/octet-stream".to_owned(),
            bytes: vec![0; size].into(),
            disposition: "attachment".to_owned(),
            content_id: None,
            is_related: false,
        }
    }

    #[test]
    fn content_is_within_the_event_while_it_is_small() {
        let json = json(&[sized(3), sized(11)], 10);
        assert_eq!(
            json[0],
            json!({
                "filename": "a.bin",
                "contentType": "application/octet-stream",
                "contentDisposition": "attachment",
                "size": 3,
                "content": "AAAA",
                "contentTruncated": false,
            })
        );
        assert_eq!(json[1]["contentTruncated"], true);
        assert_eq!(json[1].get("content"), None);
    }

    #[test]
    fn many_small_attachments_do_not_make_a_large_event() {
        let many = vec![sized(10); INLINE_TOTAL_FACTOR + 1];
        let json = json(&many, 10);
        assert_eq!(json[INLINE_TOTAL_FACTOR - 1]["contentTruncated"], false);
        assert_eq!(json[INLINE_TOTAL_FACTOR]["contentTruncated"], true);
    }
}
