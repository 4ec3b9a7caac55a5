//! Sends to S3: lines of one minute, bucket and prefix become one compressed object, and end once it is stored.

mod answer;
mod object;
mod signature;

use std::time::Duration;

use bytes::Bytes;
use headwater_model::time::EpochMs;
use reqwest::{
    Method, StatusCode,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{Value, json, value::RawValue};
use sha2::{Digest as _, Sha256};
use url::Url;

pub(super) use self::object::{Batch, Line, Place};
use self::signature::{Moment, Signed};
use super::{
    shown,
    verdict::{Ended, Outcome},
};
use crate::{
    config::{DeliveryConfig, S3Config},
    error::PlatformError,
    outbound::{Client, Outbound, USER_AGENT, excerpt, retry_after},
};

/// The reason why a node without the settings cannot send to S3.
pub(super) const NOT_SET_UP: &str = "this node stores nothing in S3; its operator can start it with --s3-access-key and \
     --s3-secret-key, and --s3-region or --s3-endpoint";
/// The time for storing an object.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of an answer that are read: those of S3 are short.
const ANSWER_BYTES_MAX: usize = 4 * 1024;

/// The operator's S3.
pub(super) struct S3 {
    client: Client,
    config: S3Config,
}

impl S3 {
    /// # Errors
    /// The TLS stack cannot be set up.
    pub(super) fn new(
        config: S3Config,
        deliveries: &DeliveryConfig,
    ) -> Result<Self, PlatformError> {
        let client = Client::trusting(deliveries, TIMEOUT)?;
        Ok(Self { client, config })
    }

    /// Stores the object of these lines.
    pub(super) async fn stored(&self, batch: &Batch, now_ms: EpochMs) -> Ended {
        let key = batch.key();
        let lines = batch.lines();
        let compressed = tokio::task::spawn_blocking(move || object::compressed(&lines)).await;
        let Ok(Ok(body)) = compressed else {
            return Ended::again("the object could not be compressed");
        };
        let put = match self.put(&batch.place.bucket, &key, body, now_ms) {
            Ok(put) => put,
            Err(reason) => return Ended::failed(reason),
        };
        let response = match self.client.send(put).await {
            Ok(response) => response,
            Err(no_answer) => return Ended::unanswered(no_answer),
        };
        let (status, headers) = (response.status(), response.headers().clone());
        if status.is_success() {
            let stored = json!({"status": status.as_u16(), "key": key});
            return Ended::sent(Some(stored));
        }
        let body = excerpt(response, ANSWER_BYTES_MAX).await;
        let body = body.unwrap_or_default();
        let error = answer::refusal(&batch.place.bucket, status, &headers, &body);
        let outcome = match may_be_mended(status) {
            true => Outcome::Again(retry_after(&headers, now_ms)),
            false => Outcome::Failed,
        };
        Ended {
            outcome,
            response: Some(json!({"status": status.as_u16(), "key": key})),
            ..Ended::failed(error)
        }
    }

    fn put(
        &self,
        bucket: &str,
        key: &str,
        body: Bytes,
        now_ms: EpochMs,
    ) -> Result<Outbound, String> {
        let url = self.url(bucket, key)?;
        let moment = Moment::at(now_ms);
        let hash = hex::encode(Sha256::digest(&body));
        let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let signed_headers = [
            ("content-type", "application/gzip"),
            ("host", host),
            ("x-amz-content-sha256", &hash),
            ("x-amz-date", moment.text()),
        ];
        let authorization = Signed {
            method: "PUT",
            path: url.path(),
            headers: &signed_headers,
            payload_hash: &hash,
        }
        .authorization(&self.config, &moment);
        let mut headers = HeaderMap::new();
        let own = [
            ("authorization", &*authorization),
            ("user-agent", USER_AGENT),
        ];
        // The client writes `Host` by itself.
        let sent = signed_headers
            .into_iter()
            .filter(|(name, _)| *name != "host");
        for (name, value) in sent.chain(own) {
            let value = HeaderValue::try_from(value);
            let value =
                value.map_err(|_| "the S3 access key has characters that no header may have")?;
            headers.insert(HeaderName::from_static(name), value);
        }
        Ok(Outbound {
            method: Method::PUT,
            url,
            headers,
            body,
        })
    }

    /// The URL of an object: at Amazon's, buckets have hosts; elsewhere they are the beginning of the path.
    fn url(&self, bucket: &str, key: &str) -> Result<Url, String> {
        let key = signature::encoded(key);
        let region = &self.config.region;
        let text = match &self.config.endpoint {
            Some(endpoint) => {
                let endpoint = endpoint.as_str().trim_end_matches('/');
                format!("{endpoint}/{bucket}/{key}")
            }
            // The certificate is for names without further dots.
            None if bucket.contains('.') => {
                format!("https://s3.{region}.amazonaws.com/{bucket}/{key}")
            }
            None => format!("https://{bucket}.s3.{region}.amazonaws.com/{key}"),
        };
        Url::parse(&text)
            .map_err(|error| format!("no URL can be built for bucket `{bucket}`: {error}"))
    }
}

/// The arguments, fit to be shown; null if they cannot be read.
pub(super) fn shown(value: &RawValue) -> Value {
    let Ok(line) = Line::read(value) else {
        return Value::Null;
    };
    json!({
        "bucket": line.bucket,
        "prefix": line.prefix,
        "payload": shown::cut(line.payload.get()),
    })
}

/// Whether the operator, the bucket's owner or time may mend it before the last attempt.
fn may_be_mended(status: StatusCode) -> bool {
    let passing = [
        StatusCode::FORBIDDEN,
        StatusCode::REQUEST_TIMEOUT,
        StatusCode::CONFLICT,
        StatusCode::TOO_MANY_REQUESTS,
    ];
    status.is_server_error() || passing.contains(&status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s3(endpoint: Option<&str>) -> S3 {
        let config = S3Config {
            endpoint: endpoint.map(|endpoint| endpoint.parse().unwrap()),
            region: "eu-west-1".to_owned(),
            access_key: "key".to_owned(),
            secret_key: "secret".to_owned(),
        };
        S3::new(config, &DeliveryConfig::default()).unwrap()
    }

    #[test]
    fn a_bucket_is_in_the_host_at_amazon_and_in_the_path_elsewhere() {
        for (endpoint, bucket, url) in [
            (
                None,
                "logs",
                "https://logs.s3.eu-west-1.amazonaws.com/a/b%20c.gz",
            ),
            (
                None,
                "my.logs",
                "https://s3.eu-west-1.amazonaws.com/my.logs/a/b%20c.gz",
            ),
            (
                Some("http://127.0.0.1:9000"),
                "logs",
                "http://127.0.0.1:9000/logs/a/b%20c.gz",
            ),
            (
                Some("https://s3.example/base/"),
                "logs",
                "https://s3.example/base/logs/a/b%20c.gz",
            ),
        ] {
            assert_eq!(s3(endpoint).url(bucket, "a/b c.gz").unwrap().as_str(), url);
        }
    }

    #[test]
    fn the_host_is_signed_with_its_port_and_written_by_the_client() {
        let s3 = s3(Some("http://127.0.0.1:9000"));
        let put = s3
            .put("logs", "a", Bytes::from_static(b"x"), EpochMs(0))
            .unwrap();
        assert!(!put.headers.contains_key("host"));
        let signed = put.headers["authorization"].to_str().unwrap();
        assert!(signed.contains("SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date"));
        assert_eq!(put.headers["x-amz-date"], "19700101T000000Z");
    }
}
