//! The code by which people check signatures, run against a real request.

use std::{path::Path, process::Stdio};

use headwater_integration::{Node, Received, Receiver};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

const OTHER: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The ends of the snippets: each reads `claim.json` and prints whether it is good.
const PYTHON: &str = r#"
import json
claim = json.load(open("claim.json"))
print(verify(claim["secret"], claim["headers"], claim["body"].encode()))
"#;
const JAVASCRIPT: &str = r#"
import { readFileSync } from "node:fs";
const claim = JSON.parse(readFileSync("claim.json", "utf8"));
console.log(verify(claim.secret, claim.headers, claim.body));
"#;
const RUBY: &str = r#"
require "json"
claim = JSON.parse(File.read("claim.json"))
puts verify(claim["secret"], claim["headers"], claim["body"])
"#;
const GO: &str = r#"
func main() {
	text, _ := os.ReadFile("claim.json")
	var claim struct {
		Secret, Body string
		Headers      map[string]string
	}
	json.Unmarshal(text, &claim)
	headers := http.Header{}
	for name, value := range claim.Headers {
		headers.Set(name, value)
	}
	fmt.Println(Verify(claim.Secret, headers, []byte(claim.Body)))
}
"#;

/// A language: the file to write, its text, and the command to run in its folder.
struct Language {
    name: &'static str,
    file: &'static str,
    text: String,
    command: Vec<String>,
}

fn languages() -> Vec<Language> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let deno = std::env::var("HEADWATER_DENO").unwrap_or_else(|_| "deno".to_owned());
    let python = std::env::var("HEADWATER_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let go = include_str!("../../../../ui/snippets/verify.go")
        .replace("package webhook", "package main")
        .replace(
            "import (",
            "import (\n\t\"encoding/json\"\n\t\"fmt\"\n\t\"os\"",
        );
    let with = |code: &str, end: &str| format!("{code}{end}");
    vec![
        Language {
            name: "Python",
            file: "verify.py",
            text: with(include_str!("../../../../ui/snippets/verify.py"), PYTHON),
            command: vec![python, "verify.py".to_owned()],
        },
        Language {
            name: "JavaScript",
            file: "verify.mjs",
            text: with(
                include_str!("../../../../ui/snippets/verify.mjs"),
                JAVASCRIPT,
            ),
            command: [vec![deno], words("run --no-lock --allow-read verify.mjs")].concat(),
        },
        Language {
            name: "openssl",
            file: "verify.sh",
            text: include_str!("../../../../ui/snippets/verify.sh").to_owned(),
            command: words("sh verify.sh"),
        },
        Language {
            name: "Ruby",
            file: "verify.rb",
            text: with(include_str!("../../../../ui/snippets/verify.rb"), RUBY),
            command: words("ruby verify.rb"),
        },
        Language {
            name: "Go",
            file: "verify.go",
            text: with(&go, GO),
            command: words("go run verify.go"),
        },
    ]
}

/// A request as a receiver has it.
#[derive(Clone)]
struct Claim {
    secret: String,
    headers: Value,
    body: String,
}

impl Claim {
    fn of(secret: &str, received: &Received) -> Self {
        let headers: serde_json::Map<_, _> = received
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().into()))
            .collect();
        Self {
            secret: secret.to_owned(),
            headers: headers.into(),
            body: received.text(),
        }
    }

    fn header(&self, name: &str) -> &str {
        self.headers[name].as_str().unwrap()
    }
}

/// Whether the snippet takes the request.
async fn verdict(language: &Language, claim: &Claim, folder: &Path) -> bool {
    let text = json!({"secret": claim.secret, "headers": claim.headers, "body": claim.body});
    std::fs::write(folder.join("claim.json"), text.to_string()).unwrap();
    std::fs::write(folder.join("body"), &claim.body).unwrap();
    std::fs::write(folder.join(language.file), &language.text).unwrap();
    let mut command = Command::new(&language.command[0]);
    command
        .args(&language.command[1..])
        .current_dir(folder)
        .env("SECRET", &claim.secret)
        .env("ID", claim.header("webhook-id"))
        .env("TIMESTAMP", claim.header("webhook-timestamp"))
        .env("SIGNATURE", claim.header("webhook-signature"))
        .env("DENO_DIR", folder)
        .env("GOCACHE", folder.join("go"))
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = command.output().await;
    let output = output.unwrap_or_else(|error| panic!("{} cannot be run: {error}", language.name));
    let said = String::from_utf8_lossy(&output.stdout)
        .trim()
        .to_lowercase();
    match said.as_str() {
        "true" | "good" => true,
        "false" | "too old" | "not signed with this secret" => false,
        _ => panic!(
            "{}: {said}{}",
            language.name,
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

#[tokio::test]
async fn each_snippet_takes_what_is_signed_and_nothing_else() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let webhook = node.webhook(&receiver.url()).await;
    let path = format!("/webhooks/{}", webhook["id"].as_str().unwrap());
    // Two secrets are valid, so that the header has two signatures.
    let rotate = format!("{path}/rotate_secret");
    let rotated = node.post(&rotate, json!({})).await.is(200).data();
    node.post(&format!("{path}/test"), json!({})).await.is(200);
    let received = receiver.received().remove(0);
    let good = Claim::of(rotated["secret"].as_str().unwrap(), &received);
    let former = Claim::of(webhook["secret"].as_str().unwrap(), &received);
    let of_others = Claim::of(OTHER, &received);
    let mut changed = good.clone();
    changed.body.push(' ');
    let mut old = good.clone();
    old.headers["webhook-timestamp"] = "1600000000".into();
    let folder = TempDir::new().unwrap();
    for language in languages() {
        for (about, claim, expected) in [
            ("good", &good, true),
            ("with the former secret", &former, true),
            ("with another secret", &of_others, false),
            ("changed", &changed, false),
            ("old", &old, false),
        ] {
            let found = verdict(&language, claim, folder.path()).await;
            assert_eq!(found, expected, "{}: {about}", language.name);
        }
    }
}
