//! Pages in a real browser.

mod live;
mod looks;
