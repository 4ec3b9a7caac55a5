//! Refusals of S3 in the words of people: its code and message, and the next step where it is known.

use reqwest::{StatusCode, header::HeaderMap};

/// The reason why an object was not stored.
pub(super) fn refusal(bucket: &str, status: StatusCode, headers: &HeaderMap, body: &str) -> String {
    let region = headers.get("x-amz-bucket-region");
    let region = region.and_then(|region| region.to_str().ok());
    if let Some(region) = region.filter(|_| status.is_redirection()) {
        return format!(
            "bucket `{bucket}` is in another region; the node's operator can start it with --s3-region {region}"
        );
    }
    let told = [element(body, "Code"), element(body, "Message")];
    let told: Vec<_> = told.into_iter().flatten().collect();
    match told.is_empty() {
        true => format!("S3 answered {status} for bucket `{bucket}`"),
        false => format!(
            "S3 answered {status} for bucket `{bucket}` ({})",
            told.join(": ")
        ),
    }
}

/// The text of an element that has no others in it.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: u16, region: Option<&str>, body: &str) -> String {
        let region = region.map(|region| {
            (
                "x-amz-bucket-region".parse().unwrap(),
                region.parse().unwrap(),
            )
        });
        let headers = HeaderMap::from_iter(region);
        refusal(
            "logs",
            StatusCode::from_u16(status).unwrap(),
            &headers,
            body,
        )
    }

    #[test]
    fn a_refusal_says_what_s3_said() {
        let xml = "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code><Message>It does not exist</Message></Error>";
        assert_eq!(
            told(404, None, xml),
            "S3 answered 404 Not Found for bucket `logs` (NoSuchBucket: It does not exist)"
        );
        assert_eq!(
            told(503, None, "<html>"),
            "S3 answered 503 Service Unavailable for bucket `logs`"
        );
    }

    #[test]
    fn another_region_is_named() {
        let told = told(301, Some("eu-west-1"), "");
        assert!(told.ends_with("--s3-region eu-west-1"), "{told}");
    }
}
