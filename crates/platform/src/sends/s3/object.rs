//! Objects: their lines, their places, and their bytes.

use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use headwater_model::time::EpochMs;
use headwater_store::ClaimedSend;
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

const MINUTE_MS: u64 = 60_000;
/// Characters of an object's id.
const ID_CHARS: usize = 16;

/// The arguments of `$.send.s3`.
#[derive(Deserialize)]
pub(in super::super) struct Line {
    pub(in super::super) bucket: String,
    #[serde(default)]
    pub(in super::super) prefix: String,
    pub(in super::super) payload: Box<RawValue>,
}

impl Line {
    /// Reads the arguments.
    ///
    /// # Errors
    /// The field that no object can have, and why.
    pub(in super::super) fn read(value: &RawValue) -> Result<Self, String> {
        let line: Self = serde_json::from_str(value.get())
            .map_err(|error| format!("$.send.s3: cannot read the arguments: {error}"))?;
        let of_bucket = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        let is_bucket = line.bucket.starts_with(|c: char| c.is_ascii_alphanumeric())
            && (3..=63).contains(&line.bucket.len())
            && line.bucket.chars().all(of_bucket)
            && !line.bucket.contains("..");
        if !is_bucket {
            return Err(format!(
                "$.send.s3: bucket: `{}` is not the name of a bucket: 3 to 63 letters, digits, hyphens and dots",
                line.bucket
            ));
        }
        // URLs have no such parts.
        if line
            .prefix
            .split('/')
            .any(|part| matches!(part, "." | ".."))
        {
            return Err("$.send.s3: prefix: `.` and `..` cannot be parts of it".to_owned());
        }
        Ok(line)
    }
}

/// The lines that one object may have together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Place {
    pub(in super::super) bucket: String,
    prefix: String,
    /// Minutes since the epoch.
    minute: u64,
}

impl Place {
    pub(in super::super) fn new(bucket: String, prefix: String, queued_at_ms: EpochMs) -> Self {
        let prefix = prefix.trim_matches('/').to_owned();
        let minute = queued_at_ms.0 / MINUTE_MS;
        Self {
            bucket,
            prefix,
            minute,
        }
    }

    /// The end of its minute.
    pub(in super::super) fn ends_ms(&self) -> EpochMs {
        EpochMs((self.minute + 1).saturating_mul(MINUTE_MS))
    }
}

/// The sends of one object.
pub(in super::super) struct Batch {
    pub(in super::super) place: Place,
    pub(in super::super) sends: Vec<ClaimedSend>,
    pub(in super::super) bytes: usize,
}

impl Batch {
    pub(in super::super) fn new(place: Place) -> Self {
        Self {
            place,
            sends: Vec::new(),
            bytes: 0,
        }
    }

    pub(in super::super) fn push(&mut self, send: ClaimedSend, bytes: usize) {
        self.bytes += bytes;
        self.sends.push(send);
    }

    /// The key of the object. The same sends have the same key, so that an object that is stored again, because
    /// nobody heard that it was stored, replaces itself.
    pub(super) fn key(&self) -> String {
        let queued = self.sends.iter().map(|send| send.queued_at_ms).min();
        let seconds = queued.unwrap_or_default().to_seconds().0;
        let moment =
            chrono::DateTime::from_timestamp(i64::try_from(seconds).unwrap_or_default(), 0);
        let time = moment
            .unwrap_or_default()
            .format("%Y/%m/%d/%H/%Y-%m-%d-%H-%M-%S");
        let name = format!("{time}-{}.gz", self.id());
        match &*self.place.prefix {
            "" => name,
            prefix => format!("{prefix}/{name}"),
        }
    }

    fn id(&self) -> String {
        let mut hash = Sha256::new();
        for send in &self.sends {
            let id = &send.id;
            hash.update(format!("{}\n{}\n{}\n", id.run_id, id.path, id.number));
        }
        let mut digest = hex::encode(hash.finalize());
        digest.truncate(ID_CHARS);
        digest
    }

    /// The payloads, one JSON text a line.
    pub(super) fn lines(&self) -> Vec<u8> {
        let mut lines = Vec::with_capacity(self.bytes + self.sends.len());
        let read = self.sends.iter().map(|send| Line::read(&send.value));
        for line in read.flatten() {
            // A line end in JSON is between its tokens.
            let ends = |byte: u8| matches!(byte, b'\n' | b'\r');
            let bytes = line.payload.get().bytes();
            lines.extend(bytes.map(|byte| if ends(byte) { b' ' } else { byte }));
            lines.push(b'\n');
        }
        lines
    }
}

/// Bytes as gzip has them, the same for the same bytes.
pub(super) fn compressed(bytes: &[u8]) -> io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use headwater_model::id::{InvocationId, UserId, WorkflowId};
    use headwater_store::{Owner, SendId, SendWay};
    use serde_json::json;

    use super::*;

    const T0: EpochMs = EpochMs(1_700_000_000_000); // 2023-11-14 22:13:20

    fn send(number: u32, payload: &str) -> ClaimedSend {
        ClaimedSend {
            id: SendId {
                run_id: InvocationId::new(T0, 1),
                path: "a".to_owned(),
                number,
            },
            attempt: 1,
            runnable: WorkflowId::new(T0, 1).into(),
            owner: Owner {
                user_id: UserId::new(T0, 1),
                workspace_id: None,
            },
            way: SendWay::S3,
            lane: None,
            value: RawValue::from_string(format!(r#"{{"bucket":"logs","payload":{payload}}}"#))
                .unwrap(),
            queued_at_ms: EpochMs(T0.0 + u64::from(number)),
        }
    }

    fn batch(prefix: &str, sends: Vec<ClaimedSend>) -> Batch {
        let mut batch = Batch::new(Place::new("logs".to_owned(), prefix.to_owned(), T0));
        sends.into_iter().for_each(|send| batch.push(send, 1));
        batch
    }

    #[test]
    fn a_key_tells_the_time_and_is_the_same_for_the_same_sends() {
        let key = batch("/in/box/", vec![send(0, "1"), send(1, "2")]).key();
        let start = "in/box/2023/11/14/22/2023-11-14-22-13-20-";
        let id = key
            .strip_prefix(start)
            .and_then(|id| id.strip_suffix(".gz"));
        assert_eq!(id.unwrap().len(), ID_CHARS, "{key}");
        assert_eq!(batch("in/box", vec![send(0, "1"), send(1, "2")]).key(), key);
        assert_ne!(batch("in/box", vec![send(0, "1")]).key(), key);
        assert!(
            batch("", vec![send(0, "1")])
                .key()
                .starts_with("2023/11/14/22/")
        );
    }

    #[test]
    fn lines_are_json_texts() {
        let batch = batch(
            "",
            vec![send(0, "{\n\"a\": \"x\\ny\"\r\n}"), send(1, "\"text\"")],
        );
        let packed = compressed(&batch.lines()).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(&packed[..])
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "{ \"a\": \"x\\ny\"  }\n\"text\"\n");
    }

    #[test]
    fn an_object_holds_one_minute() {
        let place = |ms| Place::new("logs".to_owned(), String::new(), EpochMs(ms));
        assert_eq!(place(60_000), place(119_999));
        assert_ne!(place(60_000), place(120_000));
        assert_eq!(place(60_000).ends_ms(), EpochMs(120_000));
    }

    #[test]
    fn a_name_that_would_lead_elsewhere_is_refused() {
        for (bucket, prefix, field) in [
            ("../other", "", "bucket"),
            ("a/b/c", "", "bucket"),
            ("lo", "", "bucket"),
            ("logs.", "..", "prefix"),
            ("a..b", "", "bucket"),
            ("logs@evil.example", "", "bucket"),
            ("logs", "a/../b", "prefix"),
            ("logs", ".", "prefix"),
        ] {
            let value = json!({"bucket": bucket, "prefix": prefix, "payload": 1});
            let value = serde_json::value::to_raw_value(&value).unwrap();
            let reason = Line::read(&value).err().unwrap();
            assert!(
                reason.starts_with(&format!("$.send.s3: {field}")),
                "{reason}"
            );
        }
        let reason = Line::read(&RawValue::from_string("{}".to_owned()).unwrap()).err();
        assert!(reason.unwrap().contains("bucket"));
    }
}
