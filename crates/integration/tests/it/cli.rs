//! The command line against a real node: what a person sees, and the exit codes. How each command
//! asks the node is tested where the commands are.

mod accounts;
mod completions;
mod deploy;
mod deployments;
mod dev;
mod doctor;
mod events;
mod init;
mod listen;
mod prompts;
mod refresh_deps;
mod run_action;
mod runs;
mod runtime;
mod search;
mod sources;
mod tenants;
mod terminal;
mod trial;
mod workflow_folders;
mod workflow_tests;
mod workflows;
