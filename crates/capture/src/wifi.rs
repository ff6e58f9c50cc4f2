//! Data frames of IEEE 802.11, with the headers that capturing programs put before them.

use crate::error::Unread;
use crate::ether_type::by_llc;
use crate::link_layer::LinkType;
use crate::network::NetworkId;

/// A data frame is protected by encryption.
const PROTECTED: u16 = 0x4000;
/// High-throughput control follows the header of a QoS frame.
const ORDER: u16 = 0x8000;
const TO_AND_FROM_DS: u16 = 0x0300;
/// Subtypes of data frames.
const NO_DATA: u16 = 0x0040;
const QOS: u16 = 0x0080;
/// In the QoS control field: several packets in one frame.
const AGGREGATE: u8 = 0x80;

/// A frame of one of the link types, from its IP header on.
pub(crate) fn ip_packet<'a>(
    link_type: LinkType,
    frame: &'a [u8],
    network: &mut NetworkId,
) -> Result<&'a [u8], Unread> {
    let word = |at: usize| -> Result<[u8; 4], Unread> {
        let bytes = frame.get(at..).and_then(<[u8]>::first_chunk);
        Ok(*bytes.ok_or(Unread::CutHeader)?)
    };
    let mut is_padded = false;
    let before = match link_type {
        LinkType::WIFI_RADIOTAP => {
            let [_, _, low, high] = word(0)?;
            is_padded = is_radiotap_padded(frame)?;
            usize::from(u16::from_le_bytes([low, high]))
        }
        LinkType::WIFI_PRISM => 144,
        LinkType::WIFI_AVS => u32::from_be_bytes(word(4)?) as usize,
        LinkType::PPI => {
            let [_, _, low, high] = word(0)?;
            if u32::from_le_bytes(word(4)?) != LinkType::WIFI.0 {
                return Err(Unread::NotIp(0));
            }
            usize::from(u16::from_le_bytes([low, high]))
        }
        _ => 0,
    };
    data(
        frame.get(before..).ok_or(Unread::CutHeader)?,
        is_padded,
        network,
    )
}

/// Whether radiotap's flags say that the header of 802.11 is padded to 4 bytes.
fn is_radiotap_padded(frame: &[u8]) -> Result<bool, Unread> {
    const HAS_TIMER: u32 = 1;
    const HAS_FLAGS: u32 = 2;
    const MORE_WORDS: u32 = 1 << 31;
    const DATA_PAD: u8 = 0x20;
    let words = frame.get(4..).ok_or(Unread::CutHeader)?.chunks_exact(4);
    let mut present = words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let first = present.next().ok_or(Unread::CutHeader)?;
    if first & HAS_FLAGS == 0 {
        return Ok(false);
    }
    let further = if first & MORE_WORDS == 0 {
        0
    } else {
        1 + present.take_while(|word| word & MORE_WORDS != 0).count()
    };
    let mut at = 8 + 4 * further;
    if first & HAS_TIMER != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    let flags = frame.get(at).ok_or(Unread::CutHeader)?;
    Ok(flags & DATA_PAD != 0)
}

/// The header of a data frame, then LLC (IEEE 802.11 §9.3.2.1).
fn data<'a>(frame: &'a [u8], is_padded: bool, network: &mut NetworkId) -> Result<&'a [u8], Unread> {
    const TYPE: u16 = 0x000c;
    const DATA: u16 = 0x0008;
    let control = frame.first_chunk().ok_or(Unread::CutHeader)?;
    let control = u16::from_le_bytes(*control);
    if control & TYPE != DATA || control & (NO_DATA | PROTECTED) != 0 {
        return Err(Unread::NotIp(0));
    }
    let mut header_bytes = 24;
    if control & TO_AND_FROM_DS == TO_AND_FROM_DS {
        header_bytes += 6;
    }
    if control & QOS != 0 {
        let qos = frame.get(header_bytes).ok_or(Unread::CutHeader)?;
        if qos & AGGREGATE != 0 {
            return Err(Unread::NotIp(0));
        }
        header_bytes += if control & ORDER != 0 { 6 } else { 2 };
    }
    if is_padded {
        header_bytes = usize::next_multiple_of(header_bytes, 4);
    }
    by_llc(frame.get(header_bytes..).ok_or(Unread::CutHeader)?, network)
}
