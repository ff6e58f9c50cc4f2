//! The handshake: the messages of TLS 1.3 (RFC 8446 §2) by their order, levels and usual sizes, without their secrets.
//!
//! ClientHello and ServerHello go in Initial packets, the server's certificate and both Finished in Handshake packets.
//! Hello and certificate carry the transport parameters.

/// Bytes of a message's type and length.
const PREFIX_BYTES: usize = 4;
/// What a ClientHello has besides the transport parameters: key share, ciphers, names.
const CLIENT_HELLO_BYTES: usize = 220;
const SERVER_HELLO_BYTES: usize = 118;
/// A chain of two ECDSA certificates, and the signature.
const CERTIFICATE_BYTES: usize = 1800;
const FINISHED_BYTES: usize = 32;

/// What is to be written next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The client's ClientHello.
    ClientHello,
    /// Nothing until the peer's message is complete.
    AwaitServerHello,
    /// The keys of Handshake packets, which the client has with the ServerHello.
    HandshakeKeys,
    AwaitCertificate,
    AwaitClientHello,
    ServerHello,
    Certificate,
    /// The client's Finished.
    Finished,
    AwaitFinished,
    Done,
}

/// Whether keys of the next level are to be installed after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Those of the next level.
    Next,
    /// No further keys yet.
    Same,
}

/// One end's handshake.
#[derive(Debug)]
pub(crate) struct Handshake {
    step: Step,
    /// Own transport parameters, as they are sent.
    own: Vec<u8>,
    /// The peer's, once they are there.
    peer: Option<Vec<u8>>,
    /// What arrived of a message.
    partial: Vec<u8>,
}

impl Handshake {
    /// The client's, with its transport parameters.
    pub(crate) fn client(own: Vec<u8>) -> Self {
        Self::new(Step::ClientHello, own)
    }

    /// The server's, with its transport parameters.
    pub(crate) fn server(own: Vec<u8>) -> Self {
        Self::new(Step::AwaitClientHello, own)
    }

    fn new(step: Step, own: Vec<u8>) -> Self {
        Self {
            step,
            own,
            peer: None,
            partial: Vec::new(),
        }
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.step != Step::Done
    }

    /// The peer's transport parameters.
    pub(crate) fn peer(&self) -> Option<&[u8]> {
        self.peer.as_deref()
    }

    /// The peer's bytes arrive in order. Returns false if they are not a handshake.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> bool {
        self.partial.extend_from_slice(bytes);
        while let Some((prefix, rest)) = self.partial.split_first_chunk::<PREFIX_BYTES>() {
            let [kind, length @ ..] = *prefix;
            let length = length
                .iter()
                .fold(0, |length, &byte| length << 8 | usize::from(byte));
            if rest.len() < length {
                return length <= 4 * CERTIFICATE_BYTES;
            }
            let body = rest[..length].to_vec();
            self.partial.drain(..PREFIX_BYTES + length);
            if !self.take(kind, body) {
                return false;
            }
        }
        true
    }

    fn take(&mut self, kind: u8, mut body: Vec<u8>) -> bool {
        let (awaited, filler, next) = match self.step {
            Step::AwaitClientHello => (Step::ClientHello, CLIENT_HELLO_BYTES, Step::ServerHello),
            Step::AwaitServerHello => (Step::ServerHello, SERVER_HELLO_BYTES, Step::HandshakeKeys),
            Step::AwaitCertificate => (Step::Certificate, CERTIFICATE_BYTES, Step::Finished),
            Step::AwaitFinished => (Step::Finished, FINISHED_BYTES, Step::Done),
            _ => return false,
        };
        if kind != code(awaited) || body.len() < filler {
            return false;
        }
        if matches!(awaited, Step::ClientHello | Step::Certificate) {
            body.drain(..filler);
            self.peer = Some(body);
        }
        self.step = next;
        true
    }

    /// Appends what is to be sent at the current level.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>) -> Keys {
        let none: &[u8] = &[];
        let (filler, params, next, keys) = match self.step {
            Step::ClientHello => (
                CLIENT_HELLO_BYTES,
                &self.own[..],
                Step::AwaitServerHello,
                Keys::Same,
            ),
            Step::ServerHello => (SERVER_HELLO_BYTES, none, Step::Certificate, Keys::Next),
            Step::Certificate => (
                CERTIFICATE_BYTES,
                &self.own[..],
                Step::AwaitFinished,
                Keys::Next,
            ),
            Step::Finished => (FINISHED_BYTES, none, Step::Done, Keys::Next),
            Step::HandshakeKeys => {
                self.step = Step::AwaitCertificate;
                return Keys::Next;
            }
            _ => return Keys::Same,
        };
        let length = (filler + params.len()) as u32;
        out.push(code(self.step));
        out.extend_from_slice(&length.to_be_bytes()[1..]);
        out.resize(out.len() + filler, 0);
        out.extend_from_slice(params);
        self.step = next;
        keys
    }
}

/// The type of a message (RFC 8446 §4); the certificate stands for all that goes with it.
fn code(step: Step) -> u8 {
    match step {
        Step::ClientHello => 1,
        Step::ServerHello => 2,
        Step::Certificate => 8,
        _ => 20,
    }
}
