//! Signatures of requests to S3, version 4, with the whole body signed.

use std::fmt::Write as _;

use headwater_model::time::EpochMs;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::config::S3Config;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// The moment of a request, as signatures have it: `20130524T000000Z`.
pub(super) struct Moment(String);

impl Moment {
    pub(super) fn at(now_ms: EpochMs) -> Self {
        let seconds = i64::try_from(now_ms.to_seconds().0).unwrap_or_default();
        let moment = chrono::DateTime::from_timestamp(seconds, 0).unwrap_or_default();
        Self(moment.format("%Y%m%dT%H%M%SZ").to_string())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    fn day(&self) -> &str {
        self.0.split('T').next().unwrap_or_default()
    }
}

/// The parts of a request that its signature covers. It has no query.
pub(super) struct Signed<'a> {
    pub(super) method: &'a str,
    /// Encoded as it is sent.
    pub(super) path: &'a str,
    /// In the order of their names, which are in lower case.
    pub(super) headers: &'a [(&'a str, &'a str)],
    /// SHA-256 of the body, hexadecimal.
    pub(super) payload_hash: &'a str,
}

impl Signed<'_> {
    /// The value of `Authorization`.
    pub(super) fn authorization(&self, config: &S3Config, moment: &Moment) -> String {
        let scope = format!("{}/{}/s3/aws4_request", moment.day(), config.region);
        let names: Vec<_> = self.headers.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let request = hex::encode(Sha256::digest(self.canonical(&names)));
        let text = format!("{ALGORITHM}\n{}\n{scope}\n{request}", moment.text());
        let mut key = format!("AWS4{}", config.secret_key).into_bytes();
        for part in [moment.day(), &config.region, "s3", "aws4_request"] {
            key = mac(&key, part);
        }
        let signature = hex::encode(mac(&key, &text));
        format!(
            "{ALGORITHM} Credential={}/{scope},SignedHeaders={names},Signature={signature}",
            config.access_key
        )
    }

    fn canonical(&self, names: &str) -> String {
        let headers = self.headers.iter();
        let headers: String = headers
            .map(|(name, value)| format!("{name}:{}\n", value.trim()))
            .collect();
        let Self { method, path, .. } = self;
        format!(
            "{method}\n{path}\n\n{headers}\n{names}\n{}",
            self.payload_hash
        )
    }
}

/// A key of an object as the path of a URL and of a signature.
pub(super) fn encoded(key: &str) -> String {
    let mut encoded = String::with_capacity(key.len());
    for byte in key.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(byte));
            }
            // Writing to a text cannot fail.
            _ => drop(write!(encoded, "%{byte:02X}")),
        }
    }
    encoded
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    // Keys of any length are taken.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples that Amazon publishes with its description of signature version 4 for S3.
    fn example() -> (S3Config, Moment) {
        let config = S3Config {
            endpoint: None,
            region: "us-east-1".to_owned(),
            access_key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
        };
        // 24 May 2013, 00:00:00 UTC.
        (config, Moment::at(EpochMs(1_369_353_600_000)))
    }

    const HOST: (&str, &str) = ("host", "examplebucket.s3.amazonaws.com");
    const DATE: (&str, &str) = ("x-amz-date", "20130524T000000Z");

    fn signature(request: &Signed<'_>) -> String {
        let (config, moment) = example();
        let authorization = request.authorization(&config, &moment);
        let (start, signature) = authorization.rsplit_once("Signature=").unwrap();
        let credential = "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,";
        assert!(
            start.starts_with(&format!("{ALGORITHM} {credential}")),
            "{start}"
        );
        signature.to_owned()
    }

    #[test]
    fn writing_an_object_is_signed_as_published() {
        let hash = hex::encode(Sha256::digest("Welcome to Amazon S3."));
        let headers = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            HOST,
            ("x-amz-content-sha256", &*hash),
            DATE,
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        let request = Signed {
            method: "PUT",
            path: &format!("/{}", encoded("test$file.text")),
            headers: &headers,
            payload_hash: &hash,
        };
        assert_eq!(
            signature(&request),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        );
    }

    #[test]
    fn reading_an_object_is_signed_as_published() {
        let hash = hex::encode(Sha256::digest(""));
        let headers = [
            HOST,
            ("range", "bytes=0-9"),
            ("x-amz-content-sha256", &*hash),
            DATE,
        ];
        let request = Signed {
            method: "GET",
            path: "/test.txt",
            headers: &headers,
            payload_hash: &hash,
        };
        assert_eq!(
            signature(&request),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
    }

    #[test]
    fn a_key_is_encoded_but_for_its_slashes() {
        assert_eq!(encoded("a/b-c_d.e~f"), "a/b-c_d.e~f");
        assert_eq!(encoded("a b+c=ü'*"), "a%20b%2Bc%3D%C3%BC%27%2A");
    }
}
