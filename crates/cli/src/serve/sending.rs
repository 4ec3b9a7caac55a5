//! The options about what workflows send: the mail server, and the place for objects. No message has a password or key.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use headwater_platform::{InvalidSender, MailSender, S3Config};
use url::Url;

use super::arguments::ServeArguments;
use crate::usage_error::UsageError;

const REGION: &str = "us-east-1";

/// The way out for mail.
///
/// # Errors
/// A `UsageError` when an option is missing or cannot be read.
pub(super) fn mail(options: &ServeArguments) -> Result<Option<Arc<MailSender>>> {
    let (url, from) = match (given(&options.smtp_url), given(&options.mail_from)) {
        (None, None) => return Ok(None),
        (Some(_), None) => return Err(UsageError::missing("--mail-from", "--smtp-url").into()),
        (None, Some(_)) => return Err(UsageError::missing("--smtp-url", "--mail-from").into()),
        (Some(url), Some(from)) => (url, from),
    };
    let invalid = |error: InvalidSender| {
        let option = match error {
            InvalidSender::From(_) => "--mail-from",
            InvalidSender::Authorities => "--ca-certificate",
            InvalidSender::Url
            | InvalidSender::Scheme
            | InvalidSender::Host
            | InvalidSender::Login
            | InvalidSender::Query => "--smtp-url",
        };
        UsageError(format!("{option}: {error}"))
    };
    let mut sender = MailSender::new(url, from).map_err(invalid)?;
    if let Some(path) = &options.ca_certificate {
        let pem = std::fs::read(path);
        let pem =
            pem.with_context(|| format!("--ca-certificate: cannot read {}", path.display()))?;
        sender = sender.with_authorities(&pem).map_err(invalid)?;
    }
    Ok(Some(Arc::new(sender)))
}

/// The place for objects.
///
/// # Errors
/// A `UsageError` when an option is missing or cannot be read.
pub(super) fn s3(options: &ServeArguments) -> Result<Option<S3Config>> {
    let access_key = given(&options.s3_access_key);
    let (access_key, secret_key) = match (access_key, given(&options.s3_secret_key)) {
        (Some(access_key), Some(secret_key)) => (access_key, secret_key),
        (Some(_), None) => {
            return Err(UsageError::missing("--s3-secret-key", "--s3-access-key").into());
        }
        (None, Some(_)) => {
            return Err(UsageError::missing("--s3-access-key", "--s3-secret-key").into());
        }
        (None, None) => match given(&options.s3_endpoint) {
            Some(_) => return Err(UsageError::missing("--s3-access-key", "--s3-endpoint").into()),
            None => return Ok(None),
        },
    };
    let endpoint = given(&options.s3_endpoint).map(endpoint).transpose()?;
    let region = given(&options.s3_region).unwrap_or(REGION);
    let of_region = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !region.chars().all(of_region) {
        let reason =
            format!("--s3-region: `{region}` is not the name of a region such as {REGION}");
        return Err(UsageError(reason).into());
    }
    Ok(Some(S3Config {
        endpoint,
        region: region.to_owned(),
        access_key: access_key.to_owned(),
        secret_key: secret_key.to_owned(),
    }))
}

/// An option that is there and not empty: an environment variable without a value sets nothing.
fn given(option: &Option<String>) -> Option<&str> {
    option.as_deref().filter(|value| !value.is_empty())
}

fn endpoint(text: &str) -> Result<Url, UsageError> {
    let url = Url::parse(text).ok();
    let is_endpoint = |url: &Url| {
        let has_login = !url.username().is_empty() || url.password().is_some();
        let has_more = url.query().is_some() || url.fragment().is_some();
        matches!(url.scheme(), "http" | "https") && url.has_host() && !has_login && !has_more
    };
    url.filter(is_endpoint).ok_or_else(|| {
        UsageError("--s3-endpoint: write http[s]://HOST[:PORT], without user and query".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Option<String> {
        Some(value.to_owned())
    }

    fn mail_error(url: Option<&str>, from: Option<&str>) -> String {
        let options = ServeArguments {
            smtp_url: url.and_then(text),
            mail_from: from.and_then(text),
            ..ServeArguments::default()
        };
        mail(&options).unwrap_err().to_string()
    }

    #[test]
    fn without_options_nothing_is_sent() {
        let options = ServeArguments {
            smtp_url: text(""),
            s3_access_key: text(""),
            ..ServeArguments::default()
        };
        assert!(mail(&options).unwrap().is_none());
        assert!(s3(&options).unwrap().is_none());
    }

    #[test]
    fn an_option_that_cannot_be_used_is_named_without_the_password() {
        let url = "smtp://jane:hush@mail.example";
        assert!(mail_error(Some(url), None).starts_with("--mail-from: must be given"));
        assert!(mail_error(None, Some("a@b.example")).starts_with("--smtp-url: must be given"));
        assert!(mail_error(Some(url), Some("nobody")).starts_with("--mail-from: `nobody`"));
        for url in [
            "mail.example",
            "http://jane:hush@mail.example",
            "smtp://jane:hush@",
            "smtp://hush@a.example",
        ] {
            let error = mail_error(Some(url), Some("a@b.example"));
            assert!(error.starts_with("--smtp-url: "), "{error}");
            assert!(!error.contains("hush"), "{error}");
        }
    }

    #[test]
    fn the_key_of_s3_is_needed_whole_and_not_shown() {
        let options =
            |endpoint: Option<&str>, access: Option<&str>, secret: Option<&str>| ServeArguments {
                s3_endpoint: endpoint.and_then(text),
                s3_access_key: access.and_then(text),
                s3_secret_key: secret.and_then(text),
                ..ServeArguments::default()
            };
        let error = |given| s3(&given).unwrap_err().to_string();
        let server = Some("http://127.0.0.1:9000");
        assert!(error(options(server, None, None)).starts_with("--s3-access-key"));
        assert!(error(options(None, Some("a"), None)).starts_with("--s3-secret-key"));
        assert!(error(options(None, None, Some("s"))).starts_with("--s3-access-key"));
        for wrong in ["127.0.0.1:9000", "ftp://a.example", "http://u:p@a.example"] {
            let error = error(options(Some(wrong), Some("a"), Some("s")));
            assert!(error.starts_with("--s3-endpoint"), "{error}");
        }
        let config = s3(&options(server, Some("a"), Some("hush")))
            .unwrap()
            .unwrap();
        assert_eq!((&*config.region, &*config.secret_key), (REGION, "hush"));
        assert!(!format!("{config:?}").contains("hush"));
    }
}
