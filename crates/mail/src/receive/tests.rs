//! The server over real connections, driven by another program's client and line by line.

mod conversation;
mod messages;
mod peers;
mod stopping;
