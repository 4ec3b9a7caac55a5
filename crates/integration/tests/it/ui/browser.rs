//! Pages in a real browser.

mod hostile;
mod live;
mod looks;
