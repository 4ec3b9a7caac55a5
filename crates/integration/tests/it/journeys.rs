//! The purposes of Headwater, from one end to the other, with real components and real servers.

mod http_orders;
mod packages;
mod postgresql_new_row;
mod registry_package;
mod rss_timer;
mod scheduled_tasks;
