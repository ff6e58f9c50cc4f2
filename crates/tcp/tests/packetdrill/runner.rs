//! Plays a script against the host.

use dumbbell_net::Ecn;

use crate::assertion::Assertions;
use crate::connection::Sent;
use crate::host::{Host, Stop};
use crate::script::{AccEcnFields, Action, Call, Event, PacketSpec, Script, Time, TimeEnd};
use crate::times::Departure;

/// Tolerance of times, µs, unless the script says otherwise (packetdrill's own).
const TOLERANCE_US: u64 = 4_000;
/// Share of the time since the event before, in eighths: 12.5 %, as packetdrill's own.
const TOLERANCE_EIGHTHS: u64 = 1;
/// How long after its time a packet is awaited, to say that it came late, µs.
const PATIENCE_US: u64 = 2_000_000;
/// How much later than its time a packet arrives: a real host takes this long, so that nothing happens
/// to the nanosecond when a timer or a limit is due, ns.
const ARRIVAL_NS: u64 = 10_000;
/// A script begins at this time of the host's clock, so that no timestamp is 0, and as with packetdrill itself
/// a quarter into a tick, ns.
const START_NS: u64 = 1_000_000_250_000;

/// How a script ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    /// It uses what the interpreter does not have.
    Unsupported(String),
    Failed(String),
}

/// Plays a script that begins `phase_ns` after a tick of the coarsest timers; what the host sent.
pub(crate) fn play(script: &Script, phase_ns: u64) -> (Outcome, Vec<Departure>) {
    match Player::new(script, START_NS + phase_ns) {
        Ok(mut player) => (player.play_all(script), player.departures),
        Err(what) => (Outcome::Unsupported(what), Vec::new()),
    }
}

struct Player {
    host: Host,
    assertions: Assertions,
    tolerance_us: u64,
    /// Ticks of TSval are checked (`--tcp_ts_tick_usecs`).
    checks_ts_val: bool,
    /// What is added to the script's TSvals, ms.
    ts_offset_ms: Option<u32>,
    /// The time of the event before, if its packet's arrival took longer.
    event_us: Option<u64>,
    /// When a `connect` that blocks must return.
    connect_due_us: Option<u64>,
    /// When the script began.
    start_ns: u64,
    departures: Vec<Departure>,
}

impl Player {
    fn new(script: &Script, start_ns: u64) -> Result<Self, String> {
        let mut player = Self {
            host: Host::new(start_ns, script),
            assertions: Assertions::default(),
            tolerance_us: TOLERANCE_US,
            checks_ts_val: false,
            ts_offset_ms: None,
            event_us: None,
            connect_due_us: None,
            start_ns,
            departures: Vec::new(),
        };
        for (name, value) in &script.options {
            match name.as_str() {
                "tolerance_usecs" => {
                    player.tolerance_us =
                        value.parse().map_err(|_| format!("`{value}` is no time"))?;
                }
                "tcp_ts_tick_usecs" => player.checks_ts_val = value != "0",
                "mss" => {}
                name => return Err(format!("the option `--{name}`")),
            }
        }
        Ok(player)
    }

    fn play_all(&mut self, script: &Script) -> Outcome {
        for event in &script.events {
            let at_line = |what| format!("line {}: {what}", event.line);
            match self.play(event) {
                Ok(()) => {}
                Err(Stop::Unsupported(what)) => return Outcome::Unsupported(at_line(what)),
                Err(Stop::Differs(what)) => return Outcome::Failed(at_line(what)),
            }
        }
        match self.connect_due_us {
            Some(_) => Outcome::Failed("`connect` never returns".to_owned()),
            None => Outcome::Passed,
        }
    }

    fn now_us(&self) -> u64 {
        (self.host.now_ns() - self.start_ns) / 1000
    }

    fn play(&mut self, event: &Event) -> Result<(), Stop> {
        let before_us = self.event_us.unwrap_or_else(|| self.now_us());
        let base_us = if event.time.is_relative { before_us } else { 0 };
        let start_us = base_us + event.time.start_us;
        if let Action::Sends(packet) = &event.action {
            self.event_us = None;
            return self.expect(packet, event.time, base_us, before_us);
        }
        self.host.run_until(self.start_ns + start_us * 1000);
        // Packets that arrive one after another are timed by the script alone.
        let arrives = matches!(event.action, Action::Receives(_));
        self.event_us = arrives.then_some(start_us);
        match &event.action {
            Action::Receives(packet) => {
                self.host
                    .run_until(self.start_ns + start_us * 1000 + ARRIVAL_NS);
                let packet = self.with_live_echo(packet);
                self.host.receive(&packet)?;
                self.finish_connect()
            }
            Action::Calls(call) => self.call(call, event.time, base_us),
            Action::Asserts(code) => {
                self.host.settle();
                let host = &self.host;
                self.assertions
                    .run(code, &|name| host.tcp_info(name))
                    .map_err(Stop::Differs)
            }
            Action::Shell(lines) => self.host.set(lines).map_err(Stop::Unsupported),
            Action::Sends(_) => Ok(()),
        }
    }

    fn call(&mut self, call: &Call, time: Time, base_us: u64) -> Result<(), Stop> {
        if let TimeEnd::Returns(end_us) = time.end {
            if call.name != "connect" {
                return Err(Stop::Unsupported(format!("a blocking `{}`", call.name)));
            }
            self.connect_due_us = Some(base_us + end_us);
        }
        self.host.call(call)
    }

    /// A blocking `connect` returns when the connection is established.
    fn finish_connect(&mut self) -> Result<(), Stop> {
        let Some(due_us) = self.connect_due_us.filter(|_| self.host.is_connected()) else {
            return Ok(());
        };
        self.connect_due_us = None;
        let share_us = due_us * TOLERANCE_EIGHTHS / 8;
        self.check_time(
            "`connect` returns",
            (due_us, due_us),
            self.now_us(),
            self.tolerance_us.max(share_us),
        )
    }

    /// The host must send a packet; several that it sends in sequence may make it up, as
    /// segmentation offload does.
    fn expect(
        &mut self,
        packet: &PacketSpec,
        time: Time,
        base_us: u64,
        before_us: u64,
    ) -> Result<(), Stop> {
        let start_us = base_us + time.start_us;
        let end_us = match time.end {
            TimeEnd::Until(end_us) => base_us + end_us,
            _ => start_us,
        };
        let share_us = start_us.saturating_sub(before_us) * TOLERANCE_EIGHTHS / 8;
        let tolerance_us = self.tolerance_us.max(share_us);
        let until_ns = match time.end {
            TimeEnd::Any => u64::MAX - 1,
            _ => self.start_ns + (end_us + PATIENCE_US) * 1000,
        };
        let mut seq = packet.seq;
        loop {
            let Some(sent) = self.host.next_sent(until_ns) else {
                return Err(Stop::Differs("the host sends nothing".to_owned()));
            };
            let sent_us = (sent.time_ns - self.start_ns) / 1000;
            self.departures.push(Departure {
                seq: sent.seq,
                payload_bytes: sent.payload_bytes,
                time_us: sent_us as i64,
            });
            let is_last = sent.seq + sent.payload_bytes >= packet.seq + packet.payload_bytes;
            self.compare(packet, &sent, seq, is_last)
                .map_err(|what| Stop::Differs(format!("{what}: it sends {}", show(&sent))))?;
            if time.end != TimeEnd::Any {
                let what = format!("the host sends {}", show(&sent));
                self.check_time(&what, (start_us, end_us), sent_us, tolerance_us)?;
            }
            if is_last {
                return Ok(());
            }
            seq = sent.seq + sent.payload_bytes;
        }
    }

    /// Compares a packet, or the part of it from `seq` on.
    fn compare(
        &mut self,
        packet: &PacketSpec,
        sent: &Sent,
        seq: u32,
        is_last: bool,
    ) -> Result<(), String> {
        let mut flags = packet.flags;
        flags.fin &= is_last;
        flags.cwr &= flags.syn || seq == packet.seq || sent.counts_marks;
        if sent.flags != flags {
            return Err("other flags".to_owned());
        }
        let past_end = sent.seq + sent.payload_bytes > packet.seq + packet.payload_bytes;
        if sent.seq != seq || past_end || (sent.payload_bytes == 0 && packet.payload_bytes > 0) {
            return Err("another sequence number or length".to_owned());
        }
        if sent.ack != packet.ack {
            return Err("another ACK".to_owned());
        }
        if let Some(ecn) = &packet.ecn
            && ecn != ecn_name(sent.ecn)
        {
            return Err(format!("the ECN field is {}", ecn_name(sent.ecn)));
        }
        if packet.options.is_some() && packet.accecn() != sent.accecn {
            return Err(format!("the AccECN option {}", show_accecn(sent.accecn)));
        }
        if packet.options.is_none() || flags.syn {
            return self.compare_timestamps(packet, sent);
        }
        if packet.sack() != sent.sack {
            return Err(format!("SACK blocks {:?}", sent.sack));
        }
        self.compare_timestamps(packet, sent)
    }

    fn compare_timestamps(&mut self, packet: &PacketSpec, sent: &Sent) -> Result<(), String> {
        let (Some((val_ms, ecr_ms)), Some((sent_val_ms, sent_ecr_ms))) =
            (packet.timestamps(), sent.timestamps)
        else {
            return Ok(());
        };
        let offset_ms = *self
            .ts_offset_ms
            .get_or_insert(sent_val_ms.wrapping_sub(val_ms));
        let tolerance_ms = (self.tolerance_us / 1000) as u32;
        let is_near = sent_val_ms.wrapping_sub(offset_ms).abs_diff(val_ms) <= tolerance_ms;
        if self.checks_ts_val && !is_near {
            return Err(format!("TSval {}", sent_val_ms.wrapping_sub(offset_ms)));
        }
        // A SYN echoes nothing.
        if ecr_ms != sent_ecr_ms {
            return Err(format!("TSecr {sent_ecr_ms}"));
        }
        Ok(())
    }

    /// A packet whose TSecr is of the host's clock.
    fn with_live_echo(&self, packet: &PacketSpec) -> PacketSpec {
        let mut packet = packet.clone();
        for option in packet.options.iter_mut().flatten() {
            if let crate::script::TcpOption::Timestamps { ecr, .. } = option
                && *ecr != 0
            {
                *ecr = ecr.wrapping_add(self.ts_offset_ms.unwrap_or(0));
            }
        }
        packet
    }

    fn check_time(
        &self,
        what: &str,
        (start_us, end_us): (u64, u64),
        actual_us: u64,
        tolerance_us: u64,
    ) -> Result<(), Stop> {
        if actual_us + tolerance_us >= start_us && actual_us <= end_us + tolerance_us {
            return Ok(());
        }
        Err(Stop::Differs(format!(
            "{what} at {} ms, not at {} ms (± {} ms)",
            millis(actual_us),
            millis(start_us),
            millis(tolerance_us)
        )))
    }
}

fn millis(time_us: u64) -> String {
    format!("{}.{:03}", time_us / 1000, time_us % 1000)
}

fn ecn_name(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "noecn",
        Ecn::Ect0 => "ect0",
        Ecn::Ect1 => "ect1",
        Ecn::Ce => "ce",
    }
}

fn show_accecn(option: Option<AccEcnFields>) -> String {
    let Some(fields) = option else {
        return "is missing".to_owned();
    };
    let shown = |name, bytes: Option<u32>| {
        bytes.map_or_else(String::new, |bytes| format!(" {name} {bytes}"))
    };
    let (e1b, ceb) = (fields.ect1_bytes, fields.ce_bytes);
    let e0b = fields.ect0_bytes;
    format!(
        "is{}{}{}",
        shown("e1b", e1b),
        shown("ceb", ceb),
        shown("e0b", e0b)
    )
}

/// A packet in a script's notation.
fn show(sent: &Sent) -> String {
    let flags = sent.flags;
    let letters = [
        (flags.syn, 'S'),
        (flags.fin, 'F'),
        (flags.rst, 'R'),
        (flags.ece, 'E'),
        (flags.cwr, 'W'),
        (flags.ae, 'A'),
        (flags.ack, '.'),
    ];
    let letters: String = letters
        .iter()
        .filter(|own| own.0)
        .map(|own| own.1)
        .collect();
    let (seq, len) = (sent.seq, sent.payload_bytes);
    let ack = sent
        .ack
        .map_or_else(String::new, |ack| format!(" ack {ack}"));
    format!("`{letters} {seq}:{}({len}){ack}`", seq + len)
}
