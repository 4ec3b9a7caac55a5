//! Attacks on the node's files by what is saved: the kernel has to refuse them, whatever the builder's own
//! checks let through.

mod building;
mod running;
