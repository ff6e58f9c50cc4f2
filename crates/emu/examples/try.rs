use dumbbell_run::*;
use std::collections::BTreeMap;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let rate: u64 = a[1].parse::<u64>().unwrap() * 1_000_000;
    let secs: u64 = a[2].parse().unwrap();
    let buf: f64 = a[3].parse().unwrap();
    let n: u32 = a[4].parse().unwrap();
    let groups = a[5..]
        .iter()
        .map(|name| Group {
            cc: CongestionControl {
                name: name.clone(),
                params: BTreeMap::new(),
            },
            flows: n,
            base_rtt_ns: 40_000_000,
            start_ns: 0,
            start_jitter_ns: 100_000_000,
            stop_ns: None,
            size_bytes: None,
            mss_bytes: 1448,
            rwnd_bytes: 1 << 30,
            sndbuf_bytes: 1 << 30,
            tso: true,
            delayed_ack: true,
        })
        .collect();
    let s = Scenario {
        seed: 1,
        duration_ns: secs * 1_000_000_000,
        sample_interval_ns: 10_000_000,
        bottleneck: BottleneckConfig {
            link_rate_bps: rate,
            queue: Queue::Bfifo {
                limit_bytes: (rate as f64 / 8.0 * 0.04 * buf) as u64,
            },
        },
        groups,
    };
    match dumbbell_emu::run(&s, &Control::default()) {
        Ok(o) => {
            println!("{:#?}", o.summary.emulation);
            println!(
                "util {:.3} qd {:.1} ms drops {} offered {} fwd {} left {}",
                o.summary.bottleneck.utilization,
                o.summary.bottleneck.queue_delay_mean_us / 1e3,
                o.summary.bottleneck.dropped_pkts,
                o.summary.bottleneck.offered_pkts,
                o.summary.bottleneck.forwarded_pkts,
                o.summary.bottleneck.left_pkts
            );
            for f in o.summary.flows.iter().take(12) {
                println!(
                    "{} {} good {:.2} M rtt p50 {} p95 {} min {} infl {:.1} cwnd {:.1} sent {} rtx {} drop {} arr {} onp {} lost {:?} rto {:?} lim {} {} {}",
                    f.flow,
                    f.cc,
                    f.goodput_bps / 1e6,
                    f.rtt_p50_us,
                    f.rtt_p95_us,
                    f.rtt_min_us,
                    f.inflight_mean_pkts,
                    f.cwnd_mean_pkts,
                    f.sent_pkts,
                    f.retransmitted_pkts,
                    f.dropped_pkts,
                    f.arrived_pkts,
                    f.on_path_pkts,
                    f.lost_pkts,
                    f.rto_count,
                    f.cwnd_limited_us,
                    f.rwnd_limited_us,
                    f.sndbuf_limited_us
                );
            }
            for t in &o.tables {
                println!("{} {} rows", t.name, t.batch.num_rows());
            }
        }
        Err(e) => println!("error: {e}"),
    }
}
