//! Components published on npm, unchanged, against the services they were written for: real servers
//! where Debian has them, else servers of the test under the services' host names.

mod gitlab;
