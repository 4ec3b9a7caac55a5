//! Building components: what becomes of code given as text, by URL, and as a local file.

mod bundler;
mod forms;
mod hostile;
mod local;
mod package_modules;
mod registry;
mod rejections;
mod releases;
mod steps;
mod urls;
