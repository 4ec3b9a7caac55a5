//! A server that speaks S3 and checks signatures: moto, from the tests' virtual environment.

use std::process::Command;

use serde_json::Value;

use crate::{
    process::{Process, start_at_a_port},
    python,
};

const CLIENT: &str = include_str!("s3/client.py");
/// The calls that make the bucket and the key that may write; from then on signatures are checked.
const CALLS_UNCHECKED: &str = "4";

/// The server, with one bucket and one key.
pub struct S3 {
    _process: Process,
    port: u16,
    access_key: String,
    secret_key: String,
}

impl S3 {
    /// The bucket's name.
    pub const BUCKET: &str = "logs";
    /// Where the bucket is.
    pub const REGION: &str = "eu-west-1";

    /// Starts it.
    pub async fn start() -> Self {
        let started = tokio::task::spawn_blocking(Self::start_blocking).await;
        started.unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
    }

    fn start_blocking() -> Self {
        let command = |port: u16| {
            let mut server = Command::new(python::interpreter());
            server
                .args(["-m", "moto.server", "-H", "127.0.0.1", "-p"])
                .arg(port.to_string())
                .env("PYTHONUNBUFFERED", "1")
                .env("INITIAL_NO_AUTH_ACTION_COUNT", CALLS_UNCHECKED);
            server
        };
        let (process, port) = start_at_a_port("moto", "Running on", command);
        let mut s3 = Self {
            _process: process,
            port,
            access_key: "nobody".to_owned(),
            secret_key: "nothing".to_owned(),
        };
        let key = s3.ask("prepare");
        let text = |name: &str| key[name].as_str().expect("a key was made").to_owned();
        (s3.access_key, s3.secret_key) = (text("access_key"), text("secret_key"));
        s3
    }

    /// The environment of a node that may write to it.
    pub fn environment(&self) -> [(&'static str, String); 4] {
        [
            ("HEADWATER_S3_ENDPOINT", self.url()),
            ("HEADWATER_S3_REGION", Self::REGION.to_owned()),
            ("HEADWATER_S3_ACCESS_KEY", self.access_key.clone()),
            ("HEADWATER_S3_SECRET_KEY", self.secret_key.clone()),
        ]
    }

    /// The objects in the bucket by their keys, unpacked.
    pub fn objects(&self) -> Vec<(String, String)> {
        let objects = self.ask("objects");
        let objects = objects.as_array().expect("a list is printed").iter();
        let text = |object: &Value, name: &str| object[name].as_str().unwrap().to_owned();
        objects
            .map(|object| (text(object, "key"), text(object, "text")))
            .collect()
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn ask(&self, question: &str) -> Value {
        let output = Command::new(python::interpreter())
            .args(["-c", CLIENT, question, Self::BUCKET])
            .env("S3_URL", self.url())
            .env("S3_REGION", Self::REGION)
            .env("S3_ACCESS_KEY", &self.access_key)
            .env("S3_SECRET_KEY", &self.secret_key)
            .output()
            .expect("HEADWATER_TEST_PYTHON is an interpreter with the tests' packages");
        assert!(
            output.status.success(),
            "{question}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).expect("it prints JSON")
    }
}
