//! Secrets of webhooks, and signing with them as Standard Webhooks says.
//!
//! Responsible for creating a secret and for the value of `webhook-signature`. Not for keeping secrets,
//! or for the time that a former one stays valid.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use headwater_model::{id::WebhookId, time::EpochSeconds};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::environment::Environment;

const PREFIX: &str = "whsec_";
const SECRET_BYTES: usize = 24;

/// A new secret, as it is shown to the webhook's owner: `whsec_` and 24 random bytes as base64.
pub fn new_secret(env: &Environment) -> String {
    let mut bytes = [0; SECRET_BYTES];
    env.random.fill(&mut bytes);
    format!("{PREFIX}{}", STANDARD.encode(bytes))
}

/// The purpose that a webhook's secret is sealed for.
pub(crate) fn purpose(id: &WebhookId) -> String {
    format!("webhook:{id}")
}

/// A secret, ready to sign with.
#[derive(Clone)]
pub struct Signer(Hmac<Sha256>);

impl Signer {
    /// Reads a secret as [`new_secret`] gave it. `None`: it is not one.
    pub fn new(secret: &[u8]) -> Option<Self> {
        let encoded = secret.strip_prefix(PREFIX.as_bytes())?;
        let key = STANDARD.decode(encoded).ok()?;
        Hmac::new_from_slice(&key).ok().map(Self)
    }

    /// Whether one of the signatures in a value of `webhook-signature` is of this secret, for that request.
    pub fn verifies(&self, value: &str, id: &str, timestamp: EpochSeconds, body: &[u8]) -> bool {
        let mut signatures = value.split_ascii_whitespace();
        signatures.any(|signature| {
            let encoded = signature.strip_prefix("v1,");
            let bytes = encoded.and_then(|encoded| STANDARD.decode(encoded).ok());
            let mac = self.mac(id, timestamp, body);
            bytes.is_some_and(|bytes| mac.verify_slice(&bytes).is_ok())
        })
    }

    /// One signature.
    fn sign(&self, id: &str, timestamp: EpochSeconds, body: &[u8]) -> String {
        let mac = self.mac(id, timestamp, body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }

    fn mac(&self, id: &str, timestamp: EpochSeconds, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(format!("{id}.{}.", timestamp.0).as_bytes());
        mac.update(body);
        mac
    }
}

/// The value of `webhook-signature`: one signature per secret that is valid, separated by spaces.
pub(super) fn signatures<'a>(
    signers: impl IntoIterator<Item = &'a Signer>,
    id: &str,
    timestamp: EpochSeconds,
    body: &[u8],
) -> String {
    let signatures: Vec<String> = signers
        .into_iter()
        .map(|signer| signer.sign(id, timestamp, body))
        .collect();
    signatures.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::environment;

    /// The example in the specification of Standard Webhooks.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const TIMESTAMP: EpochSeconds = EpochSeconds(1_614_265_330);
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn signer(secret: &str) -> Signer {
        Signer::new(secret.as_bytes()).unwrap()
    }

    #[test]
    fn the_published_example_is_signed_as_published() {
        assert_eq!(
            signatures([&signer(SECRET)], ID, TIMESTAMP, BODY),
            SIGNATURE
        );
    }

    #[test]
    fn one_signature_of_several_is_enough() {
        let rotated = format!("v1,AAAA v1a,{SIGNATURE} {SIGNATURE}");
        assert!(signer(SECRET).verifies(&rotated, ID, TIMESTAMP, BODY));
        for wrong in ["", "v1,AAAA", &SIGNATURE[3..], "v1,no base64"] {
            assert!(
                !signer(SECRET).verifies(wrong, ID, TIMESTAMP, BODY),
                "{wrong}"
            );
        }
        assert!(!signer(SECRET).verifies(SIGNATURE, ID, TIMESTAMP, b"{}"));
    }

    #[test]
    fn id_time_body_and_secret_all_count() {
        let signed = |id, timestamp, body| signatures([&signer(SECRET)], id, timestamp, body);
        for other in [
            signed("msg_other", TIMESTAMP, BODY),
            signed(ID, EpochSeconds(TIMESTAMP.0 + 1), BODY),
            signed(ID, TIMESTAMP, b"{}"),
            signatures([&signer(&new_secret(&environment()))], ID, TIMESTAMP, BODY),
        ] {
            assert_ne!(other, SIGNATURE);
        }
    }

    #[test]
    fn each_valid_secret_signs_once() {
        let signed = signatures([&signer(SECRET), &signer(SECRET)], ID, TIMESTAMP, BODY);
        assert_eq!(signed, format!("{SIGNATURE} {SIGNATURE}"));
    }

    #[test]
    fn secrets_are_made_of_24_random_bytes() {
        let env = environment();
        let (one, other) = (new_secret(&env), new_secret(&env));
        assert_ne!(one, other);
        let encoded = one.strip_prefix("whsec_").unwrap();
        assert_eq!(STANDARD.decode(encoded).unwrap().len(), 24);
        assert!(Signer::new(one.as_bytes()).is_some());
    }

    #[test]
    fn what_is_no_secret_signs_nothing() {
        for text in ["", "whsec", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!"] {
            assert!(Signer::new(text.as_bytes()).is_none(), "{text}");
        }
    }
}
