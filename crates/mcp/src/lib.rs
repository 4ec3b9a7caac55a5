//! A server of the Model Context Protocol: tools through which a person's assistant works with a node
//! (docs/guide/assistants.md). Every tool calls the node's documented API with the person's key, so that it can do what
//! that person can, and nothing else. How the API is reached is the caller's business ([`Node`]).

mod actions;
mod api;
mod node;
mod props;
mod reply;
mod server;
mod settings;
mod tools;

pub use self::{
    node::{Answer, Node, Unreachable},
    server::{http, stdio},
    settings::Settings,
};
