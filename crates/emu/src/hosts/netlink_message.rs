//! Messages of rtnetlink(7): a header, the fixed part of their type, and attributes.
//!
//! Numbers are in the machine's order of bytes, and what follows another begins at a multiple of four.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Length of `struct nlmsghdr`.
const HEADER_BYTES: usize = 16;
/// Length of `struct nlattr`.
const ATTRIBUTE_BYTES: usize = 4;

/// A message to the kernel.
#[derive(Debug)]
pub(crate) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// One without attributes; `fixed` is the part of its type, `struct rtmsg` for a route.
    pub(crate) fn new(kind: u16, fixed: &[u8]) -> Self {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes.extend(fixed);
        Self { bytes }
    }

    /// Appends an attribute.
    pub(crate) fn with(mut self, kind: u16, value: &[u8]) -> Self {
        put_attribute(&mut self.bytes, kind, value);
        self
    }

    /// Appends an attribute that is a number.
    pub(crate) fn with_number(self, kind: u16, value: u32) -> Self {
        self.with(kind, &value.to_ne_bytes())
    }

    /// Appends an attribute that is an address.
    pub(crate) fn with_address(self, kind: u16, address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => self.with(kind, &address.octets()),
            IpAddr::V6(address) => self.with(kind, &address.octets()),
        }
    }

    /// Its bytes, with `flags`, as a request.
    pub(crate) fn into_request(mut self, flags: i32) -> Vec<u8> {
        let flags = (libc::NLM_F_REQUEST | flags) as u16;
        let length = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        self.bytes
    }
}

/// Appends an attribute to a message or to another attribute.
pub(crate) fn put_attribute(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = (ATTRIBUTE_BYTES + value.len()) as u16;
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// A text as the kernel reads it.
pub(crate) fn terminated(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes
}

/// A message from the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    /// What it is: `RTM_NEWADDR`, say.
    pub(crate) kind: u16,
    /// What follows the header.
    pub(crate) body: &'a [u8],
}

impl<'a> Answer<'a> {
    /// The first message of a datagram, and what follows it.
    pub(crate) fn first(datagram: &'a [u8]) -> io::Result<(Self, &'a [u8])> {
        let cut = || io::Error::other("an answer of rtnetlink is cut short");
        let length = number(datagram, 0).ok_or_else(cut)? as usize;
        let body = datagram.get(HEADER_BYTES..length).ok_or_else(cut)?;
        let kind = short(datagram, 4).ok_or_else(cut)?;
        let rest = datagram.get(length.next_multiple_of(4)..);
        Ok((Self { kind, body }, rest.unwrap_or_default()))
    }

    /// The error that the kernel answers; an acknowledgment is none.
    pub(crate) fn error(&self) -> Option<io::Error> {
        if i32::from(self.kind) != libc::NLMSG_ERROR {
            return None;
        }
        let code = number(self.body, 0)?.cast_signed();
        (code != 0).then(|| io::Error::from_raw_os_error(-code))
    }

    /// The value of an attribute, behind `fixed_bytes` of the message's type.
    pub(crate) fn attribute(&self, fixed_bytes: usize, kind: u16) -> Option<&'a [u8]> {
        let mut rest = self.body.get(fixed_bytes..)?;
        loop {
            let length = usize::from(short(rest, 0)?);
            let value = rest.get(ATTRIBUTE_BYTES..length)?;
            if short(rest, 2)? == kind {
                return Some(value);
            }
            rest = rest.get(length.next_multiple_of(4)..)?;
        }
    }
}

/// The number of 32 bits at an offset.
pub(crate) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .copied()
        .map(u32::from_ne_bytes)
}

/// The number of 16 bits at an offset.
pub(crate) fn short(bytes: &[u8], at: usize) -> Option<u16> {
    bytes
        .get(at..)?
        .first_chunk()
        .copied()
        .map(u16::from_ne_bytes)
}

/// The address in an attribute.
pub(crate) fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes)
            .ok()
            .map(|it| Ipv4Addr::from(it).into()),
        16 => <[u8; 16]>::try_from(bytes)
            .ok()
            .map(|it| Ipv6Addr::from(it).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let own: IpAddr = "10.0.0.1".parse().expect("an address");
        let message = Message::new(libc::RTM_NEWADDR, &[2, 32, 0, 0, 7, 0, 0, 0])
            .with(libc::IFA_LABEL, &terminated("a"))
            .with_address(libc::IFA_LOCAL, own);
        let bytes = message.into_request(libc::NLM_F_ACK);
        assert_eq!(bytes.len(), HEADER_BYTES + 8 + 8 + 8);
        let (answer, rest) = Answer::first(&bytes).expect("it is whole");
        assert_eq!((answer.kind, rest.len()), (libc::RTM_NEWADDR, 0));
        let attribute = answer.attribute(8, libc::IFA_LOCAL).and_then(address);
        assert_eq!(attribute, Some(own));
        assert!(answer.attribute(8, libc::IFA_FLAGS).is_none());
        assert!(answer.error().is_none());
        assert!(Answer::first(&bytes[..20]).is_err());
    }

    #[test]
    fn an_error_has_a_code_and_an_acknowledgment_none() {
        let answer = |code: i32| {
            let bytes = Message::new(libc::NLMSG_ERROR as u16, &code.to_ne_bytes()).into_request(0);
            let (answer, _) = Answer::first(&bytes).expect("it is whole");
            answer.error().map(|error| error.kind())
        };
        assert_eq!(answer(0), None);
        assert_eq!(answer(-libc::EEXIST), Some(io::ErrorKind::AlreadyExists));
    }
}
