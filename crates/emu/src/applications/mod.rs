//! Applications over real sockets: flows that open connections as they go along.
//!
//! One thread runs them all. It plays both ends of every connection, so an application learns what happens at
//! either, in the order in which the thread sees it, and its commands are done at once.
//!
//! A user is a flow with an `Application`. The thread (`driver`) waits for all sockets and timers of all users, reports
//! to each application what happened (`progress`), and does what it asks for (`commands`). To make a socket in a host
//! it enters the host's namespace (`hosts`). Connections have the addresses that the simulator gives them, so a port is
//! used again only after all others. Before it connects, the thread writes the port's owner into `port_table`, where
//! the relay reads it: a packet carries the number of its connection, for queues that hash, and its flow, for which it
//! counts. `live` has what the sampler needs of open connections; `books` sums up those that are over.

mod beside;
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

pub(crate) use beside::Beside;
pub(crate) use books::{ApplicationReport, RequestBooks, UserReport};
pub(crate) use driver::{Applications, ApplicationsReport, Setup};
pub(crate) use live::{LiveUser, LiveUsers};
pub(crate) use port_table::{NO_FLOW, OPENING_PORTS, PortTable, Ports};

#[cfg(test)]
mod tests;
