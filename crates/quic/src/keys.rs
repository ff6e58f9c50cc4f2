//! Cryptography without secrets (`seal`, `handshake`): what all stacks' traits have alike; compiled once for each version.

use super::proto::crypto::{CryptoError, HeaderKey, HmacKey, KeyPair, Keys, PacketKey};
use super::proto::transport_parameters::TransportParameters;
use super::proto::{Side, TransportError};
use crate::handshake::{Handshake, Keys as Level};
use crate::seal::{SAMPLE_BYTES, TAG_BYTES, tag};

/// Every key there is.
pub(super) struct Crypto;

pub(super) fn keys() -> Keys {
    Keys {
        header: KeyPair {
            local: Box::new(Crypto),
            remote: Box::new(Crypto),
        },
        packet: packet_keys(),
    }
}

pub(super) fn packet_keys() -> KeyPair<Box<dyn PacketKey>> {
    KeyPair {
        local: Box::new(Crypto),
        remote: Box::new(Crypto),
    }
}

impl HeaderKey for Crypto {
    fn decrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn encrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        SAMPLE_BYTES
    }
}

impl HmacKey for Crypto {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        let tag = tag(0, data, &[]);
        for (out, byte) in signature_out.iter_mut().zip(tag.iter().cycle()) {
            *out = *byte;
        }
    }

    fn signature_len(&self) -> usize {
        2 * TAG_BYTES
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut own = [0; 2 * TAG_BYTES];
        self.sign(data, &mut own);
        if signature == own { Ok(()) } else { Err(CryptoError) }
    }
}

/// A session: an end's handshake.
pub(super) struct Shaken {
    pub(super) handshake: Handshake,
    side: Side,
}

impl Shaken {
    pub(super) fn new(side: Side, params: &TransportParameters) -> Self {
        let mut own = Vec::new();
        params.write(&mut own);
        let handshake = match side {
            Side::Client => Handshake::client(own),
            Side::Server => Handshake::server(own),
        };
        Self { handshake, side }
    }

    /// The peer's, once they are there.
    pub(super) fn peer_params(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Some(mut peer) = self.handshake.peer() else {
            return Ok(None);
        };
        Ok(Some(TransportParameters::read(self.side, &mut peer)?))
    }

    /// Appends what is to be sent, and returns the keys that follow it.
    pub(super) fn write(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        (self.handshake.write(buf) == Level::Next).then(keys)
    }
}

/// Whether a Retry has the tag that goes with a connection ID.
pub(super) fn is_valid_retry(orig_dst_cid: &[u8], header: &[u8], payload: &[u8]) -> bool {
    let Some((text, found)) = payload.split_last_chunk::<TAG_BYTES>() else {
        return false;
    };
    tag(0, orig_dst_cid, &[header, text].concat()) == *found
}
