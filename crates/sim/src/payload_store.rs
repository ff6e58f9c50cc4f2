//! Bytes of datagrams that are in the network: a packet carries the number of their place.

use bytes::BytesMut;

/// The places. One is used again when no packet refers to it.
#[derive(Debug, Default)]
pub(crate) struct PayloadStore {
    places: Vec<(BytesMut, u32)>,
    free: Vec<u32>,
}

impl PayloadStore {
    /// Keeps bytes for one packet.
    pub(crate) fn keep(&mut self, bytes: BytesMut) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = (bytes, 1);
            return place;
        }
        self.places.push((bytes, 1));
        self.places.len() as u32 - 1
    }

    /// One more packet refers to a place.
    pub(crate) fn share(&mut self, place: u32) {
        self.places[place as usize].1 += 1;
    }

    /// A packet has left the network.
    pub(crate) fn free(&mut self, place: u32) {
        let (bytes, packets) = &mut self.places[place as usize];
        *packets -= 1;
        if *packets == 0 {
            *bytes = BytesMut::new();
            self.free.push(place);
        }
    }

    /// A packet is delivered: its bytes.
    pub(crate) fn take(&mut self, place: u32) -> BytesMut {
        let (bytes, packets) = &mut self.places[place as usize];
        let taken = if *packets == 1 {
            std::mem::take(bytes)
        } else {
            bytes.clone()
        };
        self.free(place);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_when_its_last_packet_is_gone() {
        let mut store = PayloadStore::default();
        let first = store.keep(BytesMut::from(&b"abc"[..]));
        let second = store.keep(BytesMut::from(&b"xyz"[..]));
        store.share(first);
        assert_eq!(&store.take(first)[..], b"abc");
        store.free(second);
        assert_eq!(store.keep(BytesMut::from(&b"new"[..])), second);
        assert_eq!(&store.take(first)[..], b"abc", "the duplicate has them too");
        assert_eq!(store.keep(BytesMut::new()), first);
    }
}
