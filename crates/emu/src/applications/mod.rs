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
mod progress;
mod token;
mod user;

pub(crate) use books::{ApplicationReport, RequestBooks, UserReport};
pub(crate) use driver::{Applications, ApplicationsReport, Setup};
pub(crate) use live::{LiveUser, LiveUsers};

#[cfg(test)]
mod tests;
