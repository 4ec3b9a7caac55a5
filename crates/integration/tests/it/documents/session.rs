//! A person's session with a node: a folder, the node, a server that stands for those of the document, and what was
//! printed so far.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
};

use headwater_integration::{Database, Dialogue, Node, Receiver, Reply, Seen};
use serde_json::json;
use tempfile::TempDir;

use super::{
    blocks::Command,
    placeholders::{Placeholders, is_like},
    root,
};

/// Commands that go on, by a part of them, and the text after which a person has seen enough.
const GOING_ON: [(&str, &str); 7] = [
    ("headwater serve", "is ready on http://"),
    ("headwater listen", "Ctrl-C ends"),
    ("headwater dev", "Ctrl-C ends"),
    ("events orders -f", "Z"),
    ("events rss-feed -f", "Z"),
    ("events rss-feed --follow", "Z"),
    ("curl -sN", ":sse-handshake"),
];

/// Commands that ask at a terminal, by a part of them, with the question.
const ASKING: [(&str, &str); 6] = [
    ("--field password ", "password"),
    ("--field oauth_access_token", "oauth_access_token"),
    ("--field token", "token"),
    ("variables set", "STOCK_TOKEN"),
    ("headwater login", "API key"),
    ("accounts reconnect", "oauth_access_token"),
];
/// The answer to all questions but that for a key.
const ANSWER: &str = "s3cret";

/// Servers of others that commands work with as they stand, for which the receiver answers here.
const REAL: [&str; 2] = ["https://blog.rust-lang.org", "https://api.github.com"];

/// The document whose commands have a database.
const ON_A_DATABASE: &str = "docs/guide/postgresql.md";

const FEED: &str = "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>News</title>\
    <item><title>First</title><link>https://news.example/1</link><guid>1</guid></item></channel></rss>";

pub(super) struct Session {
    document: String,
    folder: TempDir,
    node: Node,
    _server: Receiver,
    /// The one that the document's `database-url.txt` names.
    _database: Option<Database>,
    placeholders: Placeholders,
}

impl Session {
    /// A node with the document's stage set.
    pub(super) async fn start(document: &str) -> Self {
        let server = Receiver::start().await;
        let was_down = AtomicBool::new(false);
        server.answer(move |request| match &*request.path {
            "/feed.xml" => Reply {
                content_type: "application/rss+xml",
                body: FEED.to_owned(),
                ..Reply::status(200)
            },
            "/repos/denoland/deno/issues" => Reply::json(&json!([{"id": 1, "title": "First"}])),
            "/down-once" if !was_down.swap(true, Ordering::Relaxed) => Reply::status(500),
            _ => Reply::status(200),
        });
        let node = Node::builder().private_network().start().await;
        let folder = tempfile::tempdir().unwrap();
        let examples = root().join("examples").canonicalize().unwrap();
        std::os::unix::fs::symlink(examples, folder.path().join("examples")).unwrap();
        let data = folder.path().join("headwater-data");
        std::fs::create_dir(&data).unwrap();
        std::fs::write(data.join("api-key"), node.api_key()).unwrap();
        let database = (document == ON_A_DATABASE).then(Database::create);
        if let Some(database) = &database {
            std::fs::write(folder.path().join("database-url.txt"), database.url()).unwrap();
        }
        let mut placeholders = Placeholders::default();
        let url = server.url();
        for host in ["https://example.com", "https://hooks.example.com"]
            .into_iter()
            .chain(REAL)
        {
            placeholders.set(host, &url);
        }
        placeholders.set("http://localhost:4242", &url);
        placeholders.set("http://127.0.0.1:3000", &node.url());
        placeholders.set("FEED_URL", &format!("{url}/feed.xml"));
        placeholders.set("$NODE", &node.url());
        placeholders.set("$KEY", node.api_key());
        placeholders.set("SOURCE", "orders");
        let mut session = Self {
            document: document.to_owned(),
            folder,
            node,
            _server: server,
            _database: database,
            placeholders,
        };
        let stage = session.stage(".sh");
        if let Ok(script) = std::fs::read_to_string(stage) {
            let script = format!("receiver={url}\n{script}");
            let seen = session.ended(&script).await;
            assert_eq!(
                seen.code, 0,
                "the stage of {document}: {}{}",
                seen.stdout, seen.stderr
            );
        }
        session
    }

    /// The script of the document with that ending: `.sh` is run before its blocks, `.during.sh` while a command goes on,
    /// and prints the text that shows its effect.
    fn stage(&self, ending: &str) -> PathBuf {
        let name = self.document.rsplit('/').next().unwrap();
        let name = name.replace(".md", ending);
        let stages = "crates/integration/tests/it/documents/stages";
        root().join(stages).join(name)
    }

    /// Runs a command, and compares its output with what the document shows.
    pub(super) async fn run(&mut self, line: usize, command: &Command) {
        let place = format!("{}:{line}: `{}`", self.document, command.text);
        let script = self.placeholders.fill(&command.text);
        assert!(
            !script.contains('…'),
            "{place}: nothing printed says what `…` is: {script}"
        );
        let is_named = |(part, _): &&(&str, &str)| script.contains(part);
        let printed = if let Some((_, enough)) = GOING_ON.iter().find(is_named) {
            self.interrupted(&script, enough).await
        } else if let Some((_, question)) = ASKING.iter().find(is_named) {
            self.answered(&script, question, &place).await
        } else {
            let seen = self.ended(&script).await;
            assert_eq!(
                seen.code, 0,
                "{place}: {script}: {}{}",
                seen.stdout, seen.stderr
            );
            format!("{}{}", seen.stdout, seen.stderr)
        };
        for shown in command
            .output
            .iter()
            .filter(|shown| !shown.trim().is_empty())
        {
            let shown = self.placeholders.fill_addresses(shown);
            assert!(
                printed.lines().any(|line| is_like(&shown, line)),
                "{place} does not print `{shown}`:\n{printed}"
            );
        }
    }

    async fn ended(&mut self, script: &str) -> Seen {
        let mut shell = self.node.shell(self.folder.path(), script);
        let seen = Seen::from(shell.output().await.unwrap());
        self.placeholders.learn(&seen.stdout);
        self.placeholders.learn(&seen.stderr);
        seen
    }

    /// Starts what goes on, and ends it as a person does who has seen enough.
    async fn interrupted(&mut self, script: &str, enough: &str) -> String {
        let mut shell = self
            .node
            .shell(self.folder.path(), &format!("exec {script}"));
        // A further node has an address and a folder of its own.
        shell.env("HEADWATER_LISTEN", "127.0.0.1:0");
        if script.contains("headwater serve") {
            shell
                .env(
                    "HEADWATER_DATA_DIR",
                    self.folder.path().join("another-node"),
                )
                .env_remove("HEADWATER_API_KEY");
        }
        let mut dialogue = Dialogue::piped(shell);
        dialogue.expect(enough).await;
        if let Ok(during) = std::fs::read_to_string(self.stage(".during.sh")) {
            let seen = self.ended(&during).await;
            assert_eq!(seen.code, 0, "{}{}", seen.stdout, seen.stderr);
            dialogue.expect(seen.stdout.trim()).await;
        }
        dialogue.signal("INT").await;
        dialogue.end().await;
        let printed = dialogue.transcript();
        self.placeholders.learn(&printed);
        printed
    }

    /// Answers the command's question.
    async fn answered(&mut self, script: &str, question: &str, place: &str) -> String {
        let mut shell = self
            .node
            .shell(self.folder.path(), &format!("exec {script}"));
        if script.contains("headwater login") {
            shell
                .env_remove("HEADWATER_API_KEY")
                .env("HEADWATER_DATA_DIR", self.folder.path().join("none"));
        }
        let mut dialogue = Dialogue::at_terminal(shell);
        dialogue.expect(question).await;
        dialogue.hidden().await;
        let answer = match script.contains("headwater login") {
            true => self.node.api_key(),
            false => ANSWER,
        };
        dialogue.send(&format!("{answer}\r"));
        let status = dialogue.end().await;
        let printed = format!("{}{}", dialogue.transcript(), dialogue.data());
        assert!(status.success(), "{place}: {printed}");
        self.placeholders.learn(&printed);
        printed
    }
}
