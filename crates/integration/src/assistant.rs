//! An assistant's program: the client that the Model Context Protocol publishes for Python, told call by call what to
//! ask a server for.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::{binary, node::Node, python::interpreter};

const CLIENT: &str = include_str!("assistant.py");

/// The protocol's generations, which begin a connection differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// A handshake comes first.
    Handshake,
    /// Each request stands on its own.
    Newest,
}

/// A client that is connected to a server.
pub struct Assistant {
    /// Killed when this is dropped.
    _process: Child,
    requests: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

/// The result of a tool.
#[derive(Debug)]
pub struct Called {
    /// Whether the tool refused.
    pub is_error: bool,
    /// The text that an assistant reads.
    pub text: String,
    /// The value that its program reads.
    pub structured: Value,
}

impl Called {
    /// The same, checked to be no refusal: what the tool returned.
    #[track_caller]
    pub fn ok(self) -> Value {
        assert!(!self.is_error, "{}", self.text);
        assert_eq!(
            serde_json::from_str::<Value>(&self.text).unwrap(),
            self.structured
        );
        self.structured
    }

    /// The text of a refusal.
    #[track_caller]
    pub fn refused(self) -> String {
        assert!(self.is_error, "{}", self.text);
        self.text
    }
}

impl Assistant {
    /// One whose program talks to a node over HTTP. `query` is that of the server's URL.
    pub async fn over_http(node: &Node, key: &str, query: &str, protocol: Protocol) -> Self {
        let url = format!("{}/mcp{query}", node.url());
        Self::start(json!({ "url": url, "key": key }), protocol).await
    }

    /// One whose program starts `headwater mcp ARGUMENTS`.
    pub async fn over_streams(node: &Node, arguments: &[&str], protocol: Protocol) -> Self {
        let command = binary::path();
        let mut all = vec!["mcp"];
        all.extend(arguments);
        let environment =
            json!({ "HEADWATER_URL": node.url(), "HEADWATER_API_KEY": node.api_key() });
        let server = json!({ "command": command, "arguments": all, "environment": environment });
        Self::start(server, protocol).await
    }

    async fn start(server: Value, protocol: Protocol) -> Self {
        let mode = match protocol {
            Protocol::Handshake => "legacy",
            Protocol::Newest => "auto",
        };
        let mut process = Command::new(interpreter())
            .args(["-c", CLIENT, &server.to_string(), mode])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("HEADWATER_TEST_PYTHON is an interpreter with the tests' packages");
        let requests = process.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap()).lines();
        Self {
            _process: process,
            requests,
            answers,
        }
    }

    /// The server as it describes itself, with the version of the protocol that was agreed on.
    pub async fn server(&mut self) -> Value {
        self.ask(json!({ "do": "describe" })).await
    }

    /// The tools that the server lists.
    pub async fn tools(&mut self) -> Vec<Value> {
        let answer = self.ask(json!({ "do": "list" })).await;
        answer["tools"].as_array().unwrap().clone()
    }

    /// Calls a tool.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Called {
        let request = json!({ "do": "call", "tool": tool, "arguments": arguments });
        let mut answer = self.ask(request).await;
        Called {
            is_error: answer["is_error"].as_bool().unwrap(),
            text: answer["text"].as_str().unwrap().to_owned(),
            structured: answer["structured"].take(),
        }
    }

    async fn ask(&mut self, request: Value) -> Value {
        let line = format!("{request}\n");
        self.requests.write_all(line.as_bytes()).await.unwrap();
        let answer = self.answers.next_line().await.unwrap();
        serde_json::from_str(&answer.expect("the client goes on")).unwrap()
    }
}
