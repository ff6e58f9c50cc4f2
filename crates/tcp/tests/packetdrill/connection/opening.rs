//! What a connection begins with: its two endpoints.

use dumbbell_cc::{Flow, Instance, Request, SK_PACING_NEEDED};
use dumbbell_tcp::{EcnMode, Half, Receiver, ReceiverConfig, Sender, SenderConfig, TICK_NS};

use crate::settings::Settings;

const NS_PER_MS: u64 = 1_000_000;
/// Receive window, bytes; no script fills it.
const RWND_BYTES: u32 = 540_000;
/// SACKs are compressed for a twentieth of it, at most 1 ms.
const RTT_NS: u64 = 20 * NS_PER_MS;

/// What a connection is opened with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// Payload of a full segment, bytes.
    pub(crate) mss_bytes: u32,
    /// What the host asks for, or agrees to.
    pub(crate) ecn: EcnMode,
    pub(crate) timestamps: bool,
    /// Shift of the windows the peer offers.
    pub(crate) window_scale: u32,
    /// `TCP_NODELAY` is not set.
    pub(crate) nagle: bool,
    /// The peer permits SACK.
    pub(crate) permits_sack: bool,
    pub(crate) is_active: bool,
}

impl Opening {
    /// The endpoint of what the host sends; its SYN leaves now if it opens the connection.
    pub(super) fn sender(&self, now_ns: u64, settings: &Settings) -> Result<Sender, String> {
        let config = SenderConfig {
            half: if self.is_active {
                Half::Forward
            } else {
                Half::Reverse
            },
            closes: false,
            tso: settings.tso,
            ecn: self.ecn,
            nagle: self.nagle,
            tick_ns: TICK_NS,
            slow_start_after_idle: settings.slow_start_after_idle,
            ..SenderConfig::new(0, self.mss_bytes, Some(0))
        };
        let mut sender = Sender::new(config, congestion_control(settings)?);
        if !settings.loss_probes {
            sender.disable_loss_probes();
        }
        if !self.permits_sack {
            sender.disable_sack();
        }
        if self.is_active {
            sender.start(now_ns);
        }
        Ok(sender)
    }

    /// The endpoint of what the peer sends.
    pub(super) fn receiver(&self) -> Receiver {
        let mut receiver = Receiver::new(ReceiverConfig {
            half: if self.is_active {
                Half::Reverse
            } else {
                Half::Forward
            },
            rwnd_bytes: RWND_BYTES,
            ecn: self.ecn,
            tick_ns: TICK_NS,
            ..ReceiverConfig::new(0, self.mss_bytes, RTT_NS)
        });
        if !self.timestamps {
            receiver.disable_timestamps();
        }
        receiver
    }
}

fn congestion_control(settings: &Settings) -> Result<Flow, String> {
    let request = Request {
        name: settings.congestion_control.clone(),
        params: settings.parameters.clone(),
    };
    let instance = Instance::load(&request, 1).map_err(|error| error.to_string())?;
    let mut flow = instance.new_flow();
    if settings.paces {
        flow.sock.sk_pacing_status = SK_PACING_NEEDED;
    }
    Ok(flow)
}
