//! Durable ingest against the same server without storing: taking requests in, while nothing runs.

use anyhow::Result;

use super::deployed::Deployed;
use crate::{
    bare,
    builds::Builds,
    report::{Budget, Report},
    rounds::{Side, compare},
};

/// Its runs begin and then wait: what is measured is taking requests in.
const WAITS: &str = r#"export default {
  name: "Waits", version: "0.0.1",
  props: { http: "$.interface.http" },
  run: () => new Promise((resolve) => setTimeout(resolve, 50_000)),
};"#;

const BODY: &str = r#"{"name":"world","n":41}"#;

pub(super) async fn run(builds: &Builds, report: &mut Report) -> Result<()> {
    let (bare, bare_address) = bare::start().await?;
    for connections in [32, 256] {
        let ours = Deployed::start(&builds.ours, WAITS).await?;
        let other = match &builds.other {
            Some(binary) => Some(Deployed::start(binary, WAITS).await?),
            None => None,
        };
        let bare = Side {
            process: &bare,
            load: ours.load_at(bare_address, connections, BODY),
        };
        let other = other.as_ref().map(|other| other.side(connections, BODY));
        let compared = compare(&ours.side(connections, BODY), &bare, other.as_ref()).await?;
        let what = format!("durable ingest, {connections} connections");
        let bare = "same server without storing";
        report.compare(&what, bare, &compared, Budget::AtLeast(50.0, "50 %"));
    }
    Ok(())
}
