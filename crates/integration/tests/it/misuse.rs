//! Components and clients that misbehave: it is reported, it costs nobody else anything, and the node serves on.

mod bodies;
mod bomb;
mod connections;
mod folders;
mod limits;
mod neighbour;
mod network;
mod output;
mod quotas;
mod sandbox;
