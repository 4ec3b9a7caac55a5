//! Pages in a real browser.

mod hostile;
mod journey;
mod live;
mod looks;
mod pictures;
