//! Components published on npm, unchanged, against the services they were written for: real servers
//! where Debian has them, else servers of the test under the services' host names.

mod gitlab;
mod google_drive;
mod linear;
mod monday;
mod mysql;
mod notion;
mod postgresql;
mod sftp;
mod shopify;
mod slack;
mod without_service;
