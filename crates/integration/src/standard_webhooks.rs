//! Signatures of deliveries, judged by the code that Standard Webhooks publishes for Python.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::{python::interpreter, receiver::Received};

const VERIFY: &str = r#"
import json, sys
from standardwebhooks import Webhook, WebhookVerificationError

def verifies(claim):
    try:
        Webhook(claim["secret"]).verify(claim["body"], claim["headers"], json_parse=False)
        return True
    except WebhookVerificationError:
        return False

print(json.dumps([verifies(claim) for claim in json.load(sys.stdin)]))
"#;

/// Whether each request verifies with the secret beside it.
pub async fn verify(claims: &[(&str, &Received)]) -> Vec<bool> {
    let claims: Vec<_> = claims
        .iter()
        .map(|(secret, request)| claim(secret, request))
        .collect();
    let mut python = tokio::process::Command::new(interpreter())
        .args(["-c", VERIFY])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("HEADWATER_TEST_PYTHON is an interpreter");
    let mut stdin = python.stdin.take().expect("it is piped");
    stdin
        .write_all(Value::from(claims).to_string().as_bytes())
        .await
        .unwrap();
    drop(stdin);
    let output = python.wait_with_output().await.unwrap();
    assert!(
        output.status.success(),
        "the verifier failed; its error is above"
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn claim(secret: &str, request: &Received) -> Value {
    let headers: serde_json::Map<_, _> = request
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().into()))
        .collect();
    json!({"secret": secret, "body": request.text(), "headers": headers})
}
