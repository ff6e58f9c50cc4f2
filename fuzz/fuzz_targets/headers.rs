//! Any bytes as a frame of any link type: no panic, and a cut frame never contradicts a whole one.

#![no_main]

use dumbbell_capture::dissect::dissect;
use dumbbell_capture::{Checksum, LinkType, SackBlocks, TcpPacket, Unread};
use libfuzzer_sys::fuzz_target;

/// The packet without what a cut may remove.
fn fixed_facts(packet: TcpPacket) -> TcpPacket {
    TcpPacket {
        mss: None,
        window_scale: None,
        sack_permitted: false,
        timestamps: None,
        sack: SackBlocks::default(),
        has_cut_options: false,
        checksum: Checksum::Unknown,
        ..packet
    }
}

fuzz_target!(|bytes: &[u8]| {
    // The first bytes choose the link type and how much longer the frame was than its captured
    // part.
    let Some((&[t0, t1, more], frame)) = bytes.split_first_chunk() else {
        return;
    };
    let link_type = LinkType(u32::from(u16::from_be_bytes([t0, t1])));
    let wire_bytes = frame.len() as u32 + u32::from(more) * 300;
    let whole = dissect(link_type, frame, wire_bytes, true);
    if let Ok(packet) = &whole {
        assert!(packet.payload_bytes <= wire_bytes.max(0xffff));
        assert!(packet.window_scale.unwrap_or_default() <= 14);
    }
    for cut in 0..frame.len() {
        let cut = dissect(link_type, &frame[..cut], wire_bytes, true);
        if cut != Err(Unread::CutHeader) {
            assert_eq!(cut.map(fixed_facts), whole.map(fixed_facts));
        }
    }
});
