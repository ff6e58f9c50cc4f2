//! What the engine and the processes that keep a program tell each other: messages of one size over a socket that keeps
//! them apart.

/// Bytes of an [`Event`] and of an [`Order`].
pub(super) const EVENT_BYTES: usize = 24;
pub(super) const ORDER_BYTES: usize = 8;

/// What happened to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Sent by the process that becomes the program, so that the engine learns its number.
    Forked,
    /// It runs since then, ns of the monotonic clock.
    Started { at_ns: i64 },
    /// It could not be started.
    Failed { step: Step, errno: i32 },
    /// It ended then, with a status as `wait` has it.
    Exited { status: i32, at_ns: i64 },
    /// Nothing of its PID namespace is left; what all of it computed.
    Gone { user_us: i64, system_us: i64 },
}

/// What could not be done to start a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A process in namespaces of its own.
    Namespaces = 1,
    /// Entering the host.
    Host = 2,
    /// A file of names in its place.
    Names = 3,
    /// Its working directory.
    Directory = 4,
    /// Becoming the program.
    Program = 5,
}

impl Step {
    const ALL: [Self; 5] = [
        Self::Namespaces,
        Self::Host,
        Self::Names,
        Self::Directory,
        Self::Program,
    ];
}

/// What is to be done with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// A signal for the program.
    Signal(i32),
    /// A signal for all processes of its namespace.
    SignalAll(i32),
}

impl Event {
    pub(super) fn to_bytes(self) -> [u8; EVENT_BYTES] {
        let (kind, small, first, second) = match self {
            Self::Forked => (1, 0, 0, 0),
            Self::Started { at_ns } => (2, 0, at_ns, 0),
            Self::Failed { step, errno } => (3, errno, step as i64, 0),
            Self::Exited { status, at_ns } => (4, status, at_ns, 0),
            Self::Gone { user_us, system_us } => (5, 0, user_us, system_us),
        };
        let mut bytes = [0; EVENT_BYTES];
        bytes[..4].copy_from_slice(&i32::to_ne_bytes(kind));
        bytes[4..8].copy_from_slice(&i32::to_ne_bytes(small));
        bytes[8..16].copy_from_slice(&i64::to_ne_bytes(first));
        bytes[16..].copy_from_slice(&i64::to_ne_bytes(second));
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let whole: &[u8; EVENT_BYTES] = bytes.try_into().ok()?;
        let small = |at: usize| i32::from_ne_bytes(whole[at..at + 4].try_into().expect("4 bytes"));
        let large = |at: usize| i64::from_ne_bytes(whole[at..at + 8].try_into().expect("8 bytes"));
        let event = match small(0) {
            1 => Self::Forked,
            2 => Self::Started { at_ns: large(8) },
            3 => Self::Failed {
                step: (Step::ALL.into_iter()).find(|&step| step as i64 == large(8))?,
                errno: small(4),
            },
            4 => Self::Exited {
                status: small(4),
                at_ns: large(8),
            },
            5 => Self::Gone {
                user_us: large(8),
                system_us: large(16),
            },
            _ => return None,
        };
        Some(event)
    }
}

impl Order {
    pub(super) fn to_bytes(self) -> [u8; ORDER_BYTES] {
        let (kind, signal) = match self {
            Self::Signal(signal) => (1_i32, signal),
            Self::SignalAll(signal) => (2, signal),
        };
        let mut bytes = [0; ORDER_BYTES];
        bytes[..4].copy_from_slice(&kind.to_ne_bytes());
        bytes[4..].copy_from_slice(&signal.to_ne_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: [u8; ORDER_BYTES]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h] = bytes;
        let signal = i32::from_ne_bytes([e, f, g, h]);
        match i32::from_ne_bytes([a, b, c, d]) {
            1 => Some(Self::Signal(signal)),
            2 => Some(Self::SignalAll(signal)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_what_is_read() {
        let events = [
            Event::Forked,
            Event::Started { at_ns: 1 << 40 },
            Event::Failed {
                step: Step::Program,
                errno: 2,
            },
            Event::Exited {
                status: 256,
                at_ns: 5,
            },
            Event::Gone {
                user_us: 7,
                system_us: -1,
            },
        ];
        for event in events {
            assert_eq!(Event::from_bytes(&event.to_bytes()), Some(event));
        }
        for order in [Order::Signal(15), Order::SignalAll(9)] {
            assert_eq!(Order::from_bytes(order.to_bytes()), Some(order));
        }
        assert_eq!(Event::from_bytes(&[0; EVENT_BYTES]), None);
        assert_eq!(Event::from_bytes(&[1; 3]), None);
    }
}
