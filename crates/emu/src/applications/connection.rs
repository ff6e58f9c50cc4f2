//! A connection of an application: both its ends.

use dumbbell_app::End;
use dumbbell_scenario::Group;

use super::connection_end::ConnectionEnd;
use crate::sockets::receivers::limited_window;

/// A connection that is open, or opening.
#[derive(Debug)]
pub(crate) struct Connection {
    /// The user that owns it.
    pub(crate) user: usize,
    /// The application's number for it.
    pub(crate) number: u32,
    pub(crate) group: usize,
    pub(crate) opener: End,
    /// From which it was opened.
    pub(crate) port: u16,
    /// Differs from that of the connection that had its slot before.
    pub(crate) generation: u32,
    pub(crate) is_connected: bool,
    ends: [ConnectionEnd; 2],
}

/// What a connection is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub(crate) user: usize,
    pub(crate) number: u32,
    pub(crate) group: usize,
    pub(crate) opener: End,
    pub(crate) port: u16,
    pub(crate) generation: u32,
}

/// The other end.
pub(crate) fn other(end: End) -> End {
    match end {
        End::Sender => End::Receiver,
        End::Receiver => End::Sender,
    }
}

/// An end's place in an array.
pub(crate) fn index(end: End) -> usize {
    match end {
        End::Sender => 0,
        End::Receiver => 1,
    }
}

impl Connection {
    /// One of `group`, without sockets.
    pub(crate) fn new(opening: Opening, group: &Group) -> Self {
        let end = || ConnectionEnd::new(limited_window(group));
        Self {
            user: opening.user,
            number: opening.number,
            group: opening.group,
            opener: opening.opener,
            port: opening.port,
            generation: opening.generation,
            is_connected: false,
            ends: [end(), end()],
        }
    }

    pub(crate) fn end(&self, end: End) -> &ConnectionEnd {
        &self.ends[index(end)]
    }

    pub(crate) fn end_mut(&mut self, end: End) -> &mut ConnectionEnd {
        &mut self.ends[index(end)]
    }

    /// Whether both directions are closed.
    pub(crate) fn is_over(&self) -> bool {
        self.ends.iter().all(ConnectionEnd::is_fin_acknowledged)
    }
}
