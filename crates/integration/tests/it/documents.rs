//! The console blocks of the README and the guide, run as they stand, against a real node. A document's stage
//! (`stages/NAME.sh`, if there is one) creates what its commands are about. Ids and addresses in a block mean those that
//! were printed before; `…` in its output means anything.
//!
//! A block that cannot be run here says so in the document, in the line before it: `<!-- not run: REASON -->`.

mod blocks;
mod placeholders;
mod session;

use std::path::{Path, PathBuf};

use self::{blocks::Block, session::Session};

/// Blocks that cannot be run here, in all documents. To mark one more is a decision.
const NOT_RUN: usize = 34;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(document: &str) -> String {
    std::fs::read_to_string(root().join(document)).unwrap()
}

/// Runs every block of a document.
async fn run(document: &str) {
    let blocks = blocks::of(&read(document));
    let mut session = Session::start(document).await;
    for block in blocks.iter().filter(|block| block.not_run.is_none()) {
        for command in &block.commands {
            session.run(block.line, command).await;
        }
    }
}

macro_rules! documents {
    ($($test:ident: $document:literal)*) => {
        const DOCUMENTS: &[&str] = &[$($document),*];

        $(
            #[tokio::test]
            async fn $test() {
                run($document).await;
            }
        )*
    };
}

documents! {
    readme: "README.md"
    accounts: "docs/guide/accounts.md"
    audit: "docs/guide/audit.md"
    compatibility: "docs/guide/compatibility.md"
    cluster: "docs/guide/cluster.md"
    component_index: "docs/guide/component-index.md"
    concepts: "docs/guide/concepts.md"
    deploying: "docs/guide/deploying.md"
    developing: "docs/guide/developing.md"
    following_events: "docs/guide/following-events.md"
    postgresql: "docs/guide/postgresql.md"
    registry: "docs/guide/registry.md"
    runs: "docs/guide/runs.md"
    sandbox_and_limits: "docs/guide/sandbox-and-limits.md"
    troubleshooting: "docs/guide/troubleshooting.md"
    users_workspaces_and_keys: "docs/guide/users-workspaces-and-keys.md"
    watching_a_node: "docs/guide/watching-a-node.md"
    web_ui: "docs/guide/web-ui.md"
    webhooks: "docs/guide/webhooks.md"
    workflow_errors: "docs/guide/workflow-errors.md"
    workflow_testing: "docs/guide/workflow-testing.md"
    workflows: "docs/guide/workflows.md"
    writing_a_component: "docs/guide/writing-a-component.md"
}

#[test]
fn every_block_is_run_or_says_why_not() {
    let guide = std::fs::read_dir(root().join("docs/guide")).unwrap();
    let guide = guide.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let all = guide.map(|name| format!("docs/guide/{name}"));
    let mut marked = Vec::new();
    for document in all.chain(["README.md".to_owned()]) {
        let blocks: Vec<Block> = blocks::of(&read(&document));
        for block in &blocks {
            match &block.not_run {
                Some(reason) => {
                    assert!(
                        reason.split_whitespace().count() > 2,
                        "{document}:{}: {reason}",
                        block.line
                    );
                    marked.push(format!("{document}:{} {reason}", block.line));
                }
                None => assert!(
                    DOCUMENTS.contains(&&*document),
                    "{document}:{}: no test runs it",
                    block.line
                ),
            }
        }
    }
    assert_eq!(marked.len(), NOT_RUN, "{}", marked.join("\n"));
}
