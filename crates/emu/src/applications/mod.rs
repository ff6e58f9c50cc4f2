//! Applications over real sockets: flows that open connections as they go along.
//!
//! One thread runs them all. It plays both ends of every connection, so an application is told what happens at
//! either, in the order in which the thread sees it, and its commands are done at once.

mod books;
mod commands;
mod connection;
mod connection_end;
mod datagrams;
mod driver;
mod hosts;
mod live;
mod port_table;
mod progress;
mod token;
mod user;

pub(crate) use books::{ApplicationReport, RequestBooks, UserReport};
pub(crate) use driver::{Applications, ApplicationsReport, Setup};
pub(crate) use live::{LiveUser, LiveUsers};
pub(crate) use port_table::{NO_FLOW, OPENING_PORTS, PortTable};

#[cfg(test)]
mod tests;
