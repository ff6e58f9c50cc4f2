//! Headers that an EtherType names, as far as IP: tags, MPLS, PPPoE, LLC.

use dumbbell_wire::ethernet::{HEADER_BYTES, TYPE, TYPE_IPV4, TYPE_IPV6};

use crate::error::Unread;
use crate::network::NetworkId;

/// EtherTypes of tags: IEEE 802.1Q, 802.1ad, and older ones for the outer tag.
const TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
const TAG_BYTES: usize = 4;
/// Smaller numbers are lengths: LLC follows (IEEE 802.3 §3.2.6).
const TYPE_MIN: u16 = 0x0600;
const MPLS: [u16; 2] = [0x8847, 0x8848];
const PPPOE_SESSION: u16 = 0x8864;
/// Provider backbone bridging (IEEE 802.1ah), and Ethernet in a tunnel.
const BACKBONE: u16 = 0x88e7;
pub(crate) const ETHERNET: u16 = 0x6558;

/// More headers than these are a loop that somebody made.
const HEADERS_MAX: usize = 16;

/// Follows the EtherType at `type_at` and the headers that begin at `payload_at` to IP. The EtherType behind a tag
/// is in its last two bytes.
#[inline]
pub(crate) fn by_ether_type<'a>(
    frame: &'a [u8],
    type_at: usize,
    payload_at: usize,
    network: &mut NetworkId,
) -> Result<&'a [u8], Unread> {
    let ether_type = ether_type_at(frame, type_at)?;
    match ether_type {
        TYPE_IPV4 | TYPE_IPV6 => frame.get(payload_at..).ok_or(Unread::CutHeader),
        _ => follow(
            ether_type,
            frame.get(payload_at..).ok_or(Unread::CutHeader)?,
            network,
        ),
    }
}

#[inline]
fn ether_type_at(frame: &[u8], at: usize) -> Result<u16, Unread> {
    let bytes = frame.get(at..).and_then(<[u8]>::first_chunk);
    Ok(u16::from_be_bytes(*bytes.ok_or(Unread::CutHeader)?))
}

/// What an EtherType names, as far as IP.
pub(crate) fn follow<'a>(
    ether_type: u16,
    payload: &'a [u8],
    network: &mut NetworkId,
) -> Result<&'a [u8], Unread> {
    let mut ether_type = ether_type;
    let mut payload = payload;
    for _ in 0..HEADERS_MAX {
        let header_bytes = match ether_type {
            TYPE_IPV4 | TYPE_IPV6 => return Ok(payload),
            _ if TAGS.contains(&ether_type) => {
                *network = network.vlan(ether_type_at(payload, 0)?);
                TAG_BYTES
            }
            // Its tag, then Ethernet.
            BACKBONE => 4 + HEADER_BYTES,
            ETHERNET => HEADER_BYTES,
            _ if MPLS.contains(&ether_type) => return mpls(payload, network),
            PPPOE_SESSION => return pppoe(payload, network),
            ..TYPE_MIN => return by_llc(payload, network),
            _ => return Err(Unread::NotIp(ether_type)),
        };
        ether_type = ether_type_at(payload, header_bytes - 2)?;
        payload = payload.get(header_bytes..).ok_or(Unread::CutHeader)?;
    }
    Err(Unread::NotIp(ether_type))
}

/// IP, by its version.
pub(crate) fn ip_of(packet: &[u8]) -> Result<&[u8], Unread> {
    match packet.first().map(|first| first >> 4) {
        Some(4 | 6) => Ok(packet),
        Some(_) => Err(Unread::NotIp(0)),
        None => Err(Unread::CutHeader),
    }
}

/// Labels up to the one at the bottom of the stack (RFC 3032 §2.1), then IP, or Ethernet behind a control word
/// (RFC 4448 §4.6).
pub(crate) fn mpls<'a>(labels: &'a [u8], network: &mut NetworkId) -> Result<&'a [u8], Unread> {
    let mut rest = labels;
    for _ in 0..HEADERS_MAX {
        let (label, behind) = rest.split_first_chunk::<4>().ok_or(Unread::CutHeader)?;
        rest = behind;
        if label[2] & 1 == 1 {
            return match rest.first().map(|first| first >> 4) {
                Some(0) => by_ether_type(rest, 4 + TYPE, 4 + HEADER_BYTES, network),
                _ => ip_of(rest),
            };
        }
    }
    Err(Unread::NotIp(MPLS[0]))
}

/// PPP over Ethernet, in a session (RFC 2516 §4).
pub(crate) fn pppoe<'a>(frame: &'a [u8], network: &mut NetworkId) -> Result<&'a [u8], Unread> {
    by_ppp(frame.get(6..).ok_or(Unread::CutHeader)?, network)
}

/// PPP, with or without HDLC's address and control; its protocol may be compressed to a byte (RFC 1661 §2, §6.5).
pub(crate) fn by_ppp<'a>(frame: &'a [u8], network: &mut NetworkId) -> Result<&'a [u8], Unread> {
    let frame = frame.strip_prefix(&[0xff, 0x03]).unwrap_or(frame);
    match *frame {
        [0x21 | 0x57, ref packet @ ..] | [0, 0x21 | 0x57, ref packet @ ..] => ip_of(packet),
        [0x02, 0x81 | 0x83, ref labels @ ..] => mpls(labels, network),
        [] | [_] => Err(Unread::CutHeader),
        _ => Err(Unread::NotIp(0)),
    }
}

/// LLC of IP, or of SNAP, whose organisation says that an EtherType follows (RFC 1042, IEEE 802.1H).
pub(crate) fn by_llc<'a>(frame: &'a [u8], network: &mut NetworkId) -> Result<&'a [u8], Unread> {
    match frame {
        [0xaa, 0xaa, 0x03, 0, 0, 0 | 0xf8, snap @ ..] => {
            let ether_type = ether_type_at(snap, 0)?;
            match ether_type {
                ..TYPE_MIN => Err(Unread::NotIp(ether_type)),
                _ => follow(ether_type, &snap[2..], network),
            }
        }
        [0x06, 0x06, 0x03, packet @ ..] => ip_of(packet),
        _ if frame.len() < 6 => Err(Unread::CutHeader),
        _ => Err(Unread::NotIp(0)),
    }
}
