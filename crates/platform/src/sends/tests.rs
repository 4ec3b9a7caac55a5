//! Sends over a store in memory, to real servers, under a clock that the test holds.

mod bench;
mod email;
mod http;
mod life;
mod limits;
mod receiver;
mod s3;
