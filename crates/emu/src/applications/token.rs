//! Tokens by which the thread of the applications knows its sockets again.

use dumbbell_app::End;

use super::connection::index;

/// Tokens of listeners, and of sockets at which datagrams arrive; those of connections are below.
const FIRST_LISTENER: u64 = 1 << 60;
const FIRST_DATAGRAM_RECEIVER: u64 = 1 << 61;

/// Where a slot's number begins in a token of a connection: after its end; and where its generation does.
const SLOT_SHIFT: u32 = 1;
const GENERATION_SHIFT: u32 = 28;

/// Most connections at a time.
pub(super) const MAX_SLOTS: usize = 1 << (GENERATION_SHIFT - SLOT_SHIFT);

/// What a token means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Socket {
    Listener(usize),
    DatagramReceiver(usize),
    OfConnection {
        slot: usize,
        end: End,
        /// Differs from that of the connection that had the slot before.
        generation: u32,
    },
}

/// The token of a socket.
pub(super) fn token_of(socket: Socket) -> u64 {
    match socket {
        Socket::Listener(number) => FIRST_LISTENER + number as u64,
        Socket::DatagramReceiver(number) => FIRST_DATAGRAM_RECEIVER + number as u64,
        Socket::OfConnection {
            slot,
            end,
            generation,
        } => {
            u64::from(generation) << GENERATION_SHIFT
                | (slot as u64) << SLOT_SHIFT
                | index(end) as u64
        }
    }
}

/// The socket of a token.
pub(super) fn socket_of(token: u64) -> Socket {
    if let Some(number) = token.checked_sub(FIRST_DATAGRAM_RECEIVER) {
        Socket::DatagramReceiver(number as usize)
    } else if let Some(number) = token.checked_sub(FIRST_LISTENER) {
        Socket::Listener(number as usize)
    } else {
        Socket::OfConnection {
            slot: (token >> SLOT_SHIFT) as usize % MAX_SLOTS,
            end: [End::Sender, End::Receiver][(token & 1) as usize],
            generation: (token >> GENERATION_SHIFT) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_known_by_its_token() {
        let of_connection = |slot, end, generation| Socket::OfConnection {
            slot,
            end,
            generation,
        };
        for socket in [
            Socket::Listener(3),
            Socket::DatagramReceiver(0),
            of_connection(0, End::Sender, 0),
            of_connection(MAX_SLOTS - 1, End::Receiver, u32::MAX),
        ] {
            assert_eq!(socket_of(token_of(socket)), socket);
        }
    }
}
