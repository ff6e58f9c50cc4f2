//! IP packets in IP packets.

use dumbbell_wire::bytes::{read_u16, read_u32};
use dumbbell_wire::ethernet::{HEADER_BYTES, TYPE};
use dumbbell_wire::ip::PROTOCOL_UDP;

use crate::error::Unread;
use crate::ether_type::{ETHERNET, by_ether_type, by_ppp, follow, ip_of, mpls};
use crate::network::NetworkId;

/// More tunnels in one another than these are a loop that somebody made.
pub(crate) const DEPTH_MAX: usize = 8;

/// Protocol numbers of what carries IP packets.
const IPV4: u8 = 4;
const IPV6: u8 = 41;
const GRE: u8 = 47;
const AUTHENTICATION: u8 = 51;
const ETHERNET_IN_IP: u8 = 97;
const MPLS_IN_IP: u8 = 137;

/// Ports of tunnels in UDP: VXLAN's and the one that Linux first used, its generic extension's, Geneve's, GTP-U's, MPLS's.
const VXLAN: [u16; 2] = [4789, 8472];
const VXLAN_GPE: u16 = 4790;
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;
const MPLS_IN_UDP: u16 = 6635;

/// EtherTypes in GRE only: mirrored Ethernet of either version (ERSPAN), and PPP.
const ERSPAN: u16 = 0x88be;
const ERSPAN_III: u16 = 0x22eb;
const PPP: u16 = 0x880b;

/// The IP packet that the payload of another carries; `None` if that is no tunnel.
#[cold]
pub(crate) fn inner_packet<'a>(
    protocol: u8,
    payload: &'a [u8],
    network: &mut NetworkId,
) -> Option<Result<&'a [u8], Unread>> {
    Some(match protocol {
        IPV4 | IPV6 => ip_of(payload),
        GRE => gre(payload, network),
        AUTHENTICATION => authentication(payload, network)?,
        // EtherIP (RFC 3378): a version, then Ethernet.
        ETHERNET_IN_IP => ethernet(payload, 2, network),
        MPLS_IN_IP => mpls(payload, network),
        PROTOCOL_UDP => udp(payload, network)?,
        _ => return None,
    })
}

fn ethernet<'a>(payload: &'a [u8], at: usize, network: &mut NetworkId) -> Result<&'a [u8], Unread> {
    by_ether_type(payload, at + TYPE, at + HEADER_BYTES, network)
}

/// RFC 2784, RFC 2890; version 1 carries PPP (RFC 2637 §4.1).
fn gre<'a>(header: &'a [u8], network: &mut NetworkId) -> Result<&'a [u8], Unread> {
    const CHECKSUM_OR_ROUTING: u16 = 0xc000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGMENT: u16 = 0x0080;
    const VERSION: u16 = 7;
    let fixed: &[u8; 4] = header.first_chunk().ok_or(Unread::CutHeader)?;
    let (flags, ether_type) = (read_u16(fixed, 0), read_u16(fixed, 2));
    let version = flags & VERSION;
    let mut at = 4;
    if flags & CHECKSUM_OR_ROUTING != 0 {
        at += 4;
    }
    if flags & KEY != 0 {
        let key: &[u8; 4] = header
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .ok_or(Unread::CutHeader)?;
        // Version 1 has a length and the receiver's number of the call there.
        if version == 0 {
            *network = network.gre_key(read_u32(key, 0));
        }
        at += 4;
    }
    if flags & SEQUENCE != 0 {
        at += 4;
    }
    if version == 1 && flags & ACKNOWLEDGMENT != 0 {
        at += 4;
    }
    let payload = || header.get(at..).ok_or(Unread::CutHeader);
    match ether_type {
        PPP => by_ppp(payload()?, network),
        // The first version has neither a sequence number nor a header.
        ERSPAN if flags & SEQUENCE == 0 => ethernet(header, at, network),
        ERSPAN => ethernet(header, at + 8, network),
        ERSPAN_III => {
            let last = header.get(at + 11).ok_or(Unread::CutHeader)?;
            let subheader_bytes = if last & 1 == 1 { 8 } else { 0 };
            ethernet(header, at + 12 + subheader_bytes, network)
        }
        _ => follow(ether_type, payload()?, network),
    }
}

/// RFC 4302 §2: what follows is not encrypted.
fn authentication<'a>(
    header: &'a [u8],
    network: &mut NetworkId,
) -> Option<Result<&'a [u8], Unread>> {
    let Some(&[next, words]) = header.first_chunk() else {
        return Some(Err(Unread::CutHeader));
    };
    match header.get((usize::from(words) + 2) * 4..) {
        Some(_) if next == AUTHENTICATION => None,
        Some(payload) => inner_packet(next, payload, network),
        None => Some(Err(Unread::CutHeader)),
    }
}

/// Tunnels are known by the port that they go to.
fn udp<'a>(datagram: &'a [u8], network: &mut NetworkId) -> Option<Result<&'a [u8], Unread>> {
    let Some(ports) = datagram.first_chunk::<4>() else {
        return Some(Err(Unread::CutHeader));
    };
    let port = read_u16(ports, 2);
    let is_tunnel =
        matches!(port, VXLAN_GPE | GENEVE | GTP_U | MPLS_IN_UDP) || VXLAN.contains(&port);
    if !is_tunnel {
        return None;
    }
    let Some((header, behind)) = datagram.get(8..).and_then(<[u8]>::split_first_chunk::<8>) else {
        return Some(Err(Unread::CutHeader));
    };
    let number = read_u32(header, 4) >> 8;
    match port {
        GENEVE => {
            // RFC 8926 §3.4: a version of 0, and options in words.
            let option_bytes = usize::from(header[0] & 0x3f) * 4;
            (header[0] >> 6 == 0).then(|| {
                *network = network.vni(number);
                let payload = behind.get(option_bytes..).ok_or(Unread::CutHeader)?;
                match read_u16(header, 2) {
                    ETHERNET => ethernet(payload, 0, network),
                    ether_type => follow(ether_type, payload, network),
                }
            })
        }
        GTP_U => gtp_user(header, behind),
        MPLS_IN_UDP => Some(mpls(&datagram[8..], network)),
        // RFC 7348 §5: the number is valid.
        _ if header[0] & 0x08 == 0 => None,
        VXLAN_GPE if header[0] & 0x04 != 0 => {
            *network = network.vni(number);
            Some(match header[3] {
                1 | 2 => ip_of(behind),
                3 => ethernet(behind, 0, network),
                _ => Err(Unread::NotIp(0)),
            })
        }
        _ => {
            *network = network.vni(number);
            Some(ethernet(behind, 0, network))
        }
    }
}

/// A user's packet (3GPP TS 29.281 §5.1), behind optional fields and extension headers.
fn gtp_user<'a>(header: &[u8; 8], behind: &'a [u8]) -> Option<Result<&'a [u8], Unread>> {
    const VERSION_1: u8 = 0x30;
    const OPTIONAL_FIELDS: u8 = 0x07;
    const USER_PACKET: u8 = 255;
    if header[0] & 0xf0 != VERSION_1 || header[1] != USER_PACKET {
        return None;
    }
    if header[0] & OPTIONAL_FIELDS == 0 {
        return Some(ip_of(behind));
    }
    // Sequence number, number of the N-PDU, kind of the first extension header; each ends in the kind of the next.
    let mut at = 4;
    let mut next = behind.get(3).copied();
    for _ in 0..DEPTH_MAX {
        match next {
            None => return Some(Err(Unread::CutHeader)),
            Some(0) => return Some(behind.get(at..).ok_or(Unread::CutHeader).and_then(ip_of)),
            Some(_) => {}
        }
        let Some(&words) = behind.get(at) else {
            return Some(Err(Unread::CutHeader));
        };
        if words == 0 {
            return Some(Err(Unread::BadLength));
        }
        at += usize::from(words) * 4;
        next = behind.get(at - 1).copied();
    }
    Some(Err(Unread::BadLength))
}
