//! What is counted of a user's connections.

use std::io;

use dumbbell_app::End;
use serde::{Deserialize, Deserializer, Serialize};

use super::connection::Connection;
use crate::sockets::tcp_info::TcpInfo;

/// Sums over connections. Bytes are payload.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Books {
    pub(crate) written_bytes: u64,
    pub(crate) received_bytes: u64,
    /// Data packets, retransmissions included, and datagrams.
    pub(crate) sent_pkts: u64,
    /// Datagrams that the host did not take, because its buffer was full.
    pub(crate) refused_datagrams: u64,
    pub(crate) arrived_pkts: u64,
    pub(crate) receiver_sent_segs: u64,
    pub(crate) syn_retransmits: u64,
    /// `None`: not reported by the kernel, or no connection was counted.
    pub(crate) spurious_retransmits: Option<u64>,
    pub(crate) rto_count: Option<u64>,
    pub(crate) cwnd_limited_us: u64,
    pub(crate) rwnd_limited_us: u64,
    pub(crate) sndbuf_limited_us: u64,
    pub(crate) requests: RequestBooks,
}

/// The same of what the receiver's end writes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RequestBooks {
    pub(crate) received_bytes: u64,
    pub(crate) sent_pkts: u64,
    pub(crate) rto_count: u64,
}

/// What a flow has that is an application's.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ApplicationReport {
    /// Connections that it opened.
    pub(crate) connections: u64,
    /// If its receivers write, too.
    pub(crate) requests: Option<RequestBooks>,
    /// Datagrams that its host did not take.
    pub(crate) refused_datagrams: u64,
    /// What it measured by itself.
    #[serde(deserialize_with = "measurements")]
    pub(crate) measurements: Vec<(&'static str, i64)>,
}

/// Reads measurements; their names stay for as long as the process, which has few.
fn measurements<'a, D: Deserializer<'a>>(from: D) -> Result<Vec<(&'static str, i64)>, D::Error> {
    let read = Vec::<(String, i64)>::deserialize(from)?;
    let named = read.into_iter().map(|(name, value)| (&*name.leak(), value));
    Ok(named.collect())
}

/// A user at the end of the run. Times count from its start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UserReport {
    pub(crate) flow: u32,
    pub(crate) group: usize,
    pub(crate) start_ns: u64,
    /// When its first connection was.
    pub(crate) established_ns: Option<u64>,
    /// If nothing is unfinished, nor more to come.
    pub(crate) finished_ns: Option<u64>,
    /// What its connections ran, by the kernel's name.
    pub(crate) kernel_cc: String,
    pub(crate) books: Books,
    pub(crate) application: ApplicationReport,
}

impl Books {
    /// Adds a connection as it is now.
    pub(crate) fn add(&mut self, connection: &Connection) -> io::Result<()> {
        let (sender, receiver) = (connection.end(End::Sender), connection.end(End::Receiver));
        self.written_bytes += sender.written_bytes();
        self.received_bytes += receiver.received_bytes();
        self.requests.received_bytes += sender.received_bytes();
        let opener = connection.end(connection.opener);
        let before = opener.established();
        if let Some(info) = before.copied().or(opener.info()?) {
            self.syn_retransmits += u64::from(info.total_retrans_pkts);
        }
        if let (Some(info), Some(before)) = (sender.info()?, sender.established()) {
            self.sent_pkts += u64::from(info.sent_data_segs);
            let spurious = info.dsack_dups.map(u64::from);
            add(&mut self.spurious_retransmits, spurious);
            add(&mut self.rto_count, rtos(&info, before));
            self.cwnd_limited_us += info.cwnd_limited_us().unwrap_or(0);
            self.rwnd_limited_us += info.rwnd_limited_us.unwrap_or(0);
            self.sndbuf_limited_us += info.sndbuf_limited_us.unwrap_or(0);
        }
        if let (Some(info), Some(before)) = (receiver.info()?, receiver.established()) {
            self.arrived_pkts += u64::from(info.received_data_segs);
            self.receiver_sent_segs += u64::from(info.sent_segs);
            self.requests.sent_pkts += u64::from(info.sent_data_segs);
            self.requests.rto_count += rtos(&info, before).unwrap_or(0);
        }
        Ok(())
    }
}

/// Retransmission timeouts since the handshake.
fn rtos(info: &TcpInfo, before: &TcpInfo) -> Option<u64> {
    let before = before.rto_count.unwrap_or(0);
    info.rto_count
        .map(|count| u64::from(count.saturating_sub(before)))
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0) + more);
    }
}
