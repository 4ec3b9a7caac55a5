//! Node-RED with schedules that poll.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use super::{Package, version};
use crate::{polled::Polled, process::Process};

/// The last major version that runs on Node 18 and 20.
const PACKAGE: Package = Package {
    name: "node-red",
    version: "4",
    overrides: &[],
};
/// Without editor and admin API. Arguments: the package, and the folder with the flows.
const START: &str = r#"
const [, , packageDir, userDir] = process.argv;
const RED = require(packageDir);
const server = require("node:http").createServer();
const logging = { console: { level: "warn" } };
RED.init(server, { userDir, flowFile: "flows.json", httpAdminRoot: false, httpNodeRoot: false, logging });
RED.start().then(() => server.listen(0, "127.0.0.1", () => console.log(`ready on 127.0.0.1:${server.address().port}`)));
"#;

/// A running Node-RED; dropping it kills it.
pub(crate) struct NodeRed {
    pub(crate) process: Process,
    pub(crate) version: String,
    _folder: TempDir,
}

impl NodeRed {
    /// Starts it with so many schedules of this period, spread over it.
    pub(crate) async fn start(schedules: usize, period: Duration, polled: &Polled) -> Result<Self> {
        let package = PACKAGE.installed().await?;
        let folder = TempDir::new()?;
        let nodes = (0..schedules).flat_map(|number| {
            let begins = period.as_secs_f64() * number as f64 / schedules as f64;
            schedule(number, period, begins, &polled.url(number))
        });
        let tab = json!({ "id": "tab", "type": "tab", "label": "polls" });
        let flows = Value::from_iter(std::iter::once(tab).chain(nodes));
        std::fs::write(folder.path().join("flows.json"), flows.to_string())?;
        let script = folder.path().join("start.cjs");
        std::fs::write(&script, START)?;
        let mut command = Command::new("node");
        command.arg(&script).arg(&package).arg(folder.path());
        let (process, _) = Process::start(&mut command).await?;
        Ok(Self {
            process,
            version: version(&package)?,
            _folder: folder,
        })
    }
}

/// The nodes of a schedule: when, the request, and whether something is new.
fn schedule(number: usize, period: Duration, begins: f64, url: &str) -> [Value; 3] {
    let [tick, request, filter] =
        ["tick", "request", "filter"].map(|kind| format!("{kind}{number}"));
    [
        json!({
            "id": tick, "type": "inject", "z": "tab", "props": [{ "p": "payload" }], "payloadType": "date",
            "repeat": period.as_secs().to_string(), "once": true, "onceDelay": begins.max(0.1),
            "wires": [[&request]],
        }),
        json!({
            "id": request, "type": "http request", "z": "tab", "method": "GET", "ret": "obj", "url": url,
            "wires": [[&filter]],
        }),
        json!({
            "id": filter, "type": "switch", "z": "tab", "property": "payload.is_new", "propertyType": "msg",
            "rules": [{ "t": "true" }], "checkall": "true", "outputs": 1, "wires": [[]],
        }),
    ]
}
