//! n8n with workflows that poll.

use std::{net::TcpListener, path::Path};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use super::{Package, version};
use crate::{polled::Polled, process::Process};

/// The last versions that run on Node 20 without packages that have to be compiled for a newer one.
const PACKAGE: Package = Package {
    name: "n8n",
    version: "1.119.2",
    overrides: &[("xlsx", "0.18.5")],
};

/// A running n8n; dropping it kills it.
pub(crate) struct N8n {
    pub(crate) process: Process,
    pub(crate) version: String,
    _folder: TempDir,
}

impl N8n {
    /// Starts it with so many active workflows; n8n itself spreads them over the minute.
    pub(crate) async fn start(workflows: usize, polled: &Polled) -> Result<Self> {
        let package = PACKAGE.installed().await?;
        let folder = TempDir::new()?;
        let files = folder.path().join("workflows");
        std::fs::create_dir(&files)?;
        for number in 0..workflows {
            let workflow = workflow(number, &polled.url(number));
            std::fs::write(files.join(format!("{number}.json")), workflow.to_string())?;
        }
        let program = Program {
            package: &package,
            home: folder.path(),
        };
        let input = format!("--input={}", files.display());
        program
            .run(&["import:workflow", "--separate", &input])
            .await?;
        // An import leaves workflows inactive.
        program
            .run(&["update:workflow", "--all", "--active=true"])
            .await?;
        let mut start = program.command(&["start"]);
        let ready = |line: &str| line.contains("Editor is now accessible").then_some(());
        let (process, ()) = Process::start_until(&mut start, ready).await?;
        Ok(Self {
            process,
            version: version(&package)?,
            _folder: folder,
        })
    }
}

struct Program<'a> {
    package: &'a Path,
    home: &'a Path,
}

impl Program<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("node");
        command
            .arg(self.package.join("bin").join("n8n"))
            .args(arguments)
            .env("N8N_USER_FOLDER", self.home)
            .env("N8N_PORT", free_port().to_string())
            .env("N8N_RUNNERS_BROKER_PORT", free_port().to_string())
            .env("N8N_LISTEN_ADDRESS", "127.0.0.1")
            // Nothing leaves the machine.
            .env("N8N_DIAGNOSTICS_ENABLED", "false")
            .env("N8N_VERSION_NOTIFICATIONS_ENABLED", "false")
            .env("N8N_TEMPLATES_ENABLED", "false")
            .env("N8N_PERSONALIZATION_ENABLED", "false")
            .kill_on_drop(true);
        command
    }

    async fn run(&self, arguments: &[&str]) -> Result<()> {
        let output = self.command(arguments).output().await?;
        if !output.status.success() {
            let [said, failed] =
                [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
            bail!("n8n {arguments:?} failed: {said}{failed}");
        }
        Ok(())
    }
}

/// A port that nobody listens on; n8n cannot choose one itself.
fn free_port() -> u16 {
    let found = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    found.map_or(5678, |address| address.port())
}

/// A schedule, the request, and whether something is new.
fn workflow(number: usize, url: &str) -> Value {
    let node = |name: &str, kind: &str, version: f64, at: usize, parameters: Value| {
        json!({
            "id": format!("{name}-{number}"), "name": name, "type": format!("n8n-nodes-base.{kind}"),
            "typeVersion": version, "position": [at * 200, 0], "parameters": parameters,
        })
    };
    let minutely =
        json!({ "rule": { "interval": [{ "field": "minutes", "minutesInterval": 1 }] } });
    let is_new = json!({
        "conditions": {
            "options": { "caseSensitive": true, "leftValue": "", "typeValidation": "strict", "version": 2 },
            "combinator": "and",
            "conditions": [{
                "id": "new", "leftValue": "={{ $json.is_new }}", "rightValue": "",
                "operator": { "type": "boolean", "operation": "true", "singleValue": true },
            }],
        },
    });
    let to = |name: &str| json!({ "main": [[{ "node": name, "type": "main", "index": 0 }]] });
    json!({
        "id": format!("polls{number}"), "name": format!("Polls {number}"), "active": false,
        "nodes": [
            node("Schedule", "scheduleTrigger", 1.2, 0, minutely),
            node("Request", "httpRequest", 4.2, 1, json!({ "url": url, "options": {} })),
            node("New", "if", 2.2, 2, is_new),
        ],
        "connections": { "Schedule": to("Request"), "Request": to("New") },
        "settings": { "executionOrder": "v1" },
    })
}
