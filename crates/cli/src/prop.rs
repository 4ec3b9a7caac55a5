//! Props on the command line: their definitions as the API shows them, values parsed by type,
//! asked for on a terminal, and put together into `configured_props`. Whether a value is valid for
//! the component is the node's decision.

mod app;
mod ask;
mod collect;
pub(crate) mod declared;
mod definition;
mod form;
mod given;
mod pick;
mod prompt;
mod timer;
mod value;

pub(crate) use self::collect::{collect, collect_for_run};
pub(crate) use self::definition::{PropDefinition, definitions};
pub(crate) use self::given::Given;
pub(crate) use self::prompt::Stopped;
