//! Samples of flows: rows as an engine takes them, and the columns in which they are kept.

macro_rules! flow_samples {
    ($($name:ident: $value:ty,)*) => {
        /// A flow as it stands at an instant.
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, reason = "docs/format-run.md has the table of columns")]
        pub struct FlowRow {
            $(pub $name: $value,)*
        }

        /// Samples of all flows, row by row in time and flow order.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "docs/format-run.md has the table of columns")]
        pub struct FlowSamples {
            $(pub $name: Vec<$value>,)*
        }

        impl FlowSamples {
            /// Empty columns with room for `rows`.
            pub fn with_capacity(rows: usize) -> Self {
                Self {
                    $($name: Vec::with_capacity(rows),)*
                }
            }

            /// Appends rows, column by column: that writes to one place at a time.
            pub fn extend(&mut self, rows: &[FlowRow]) {
                $(self.$name.extend(rows.iter().map(|row| row.$name));)*
            }

            /// The same rows in time and flow order.
            pub fn in_order(self) -> Self {
                let mut order: Vec<usize> = (0..self.time_us.len()).collect();
                order.sort_by_key(|&row| (self.time_us[row], self.flow[row]));
                Self {
                    $($name: order.iter().map(|&row| self.$name[row]).collect(),)*
                }
            }
        }
    };
}

flow_samples! {
    time_us: i64,
    flow: u32,
    cwnd_pkts: u32,
    ssthresh_pkts: u32,
    inflight_pkts: u32,
    outstanding_pkts: u32,
    srtt_us: u32,
    rtt_us: u32,
    min_rtt_us: u32,
    delivery_rate_bps: u64,
    goodput_bps: u64,
    pacing_rate_bps: u64,
    retransmitted_pkts: u32,
    lost_pkts: u32,
    ca_state: u8,
}
