//! Building components: what becomes of code given as text, by URL, and as a local file.

mod forms;
mod local;
mod package_modules;
mod registry;
mod rejections;
mod releases;
mod urls;
