//! Every discipline with settings that act within a short case.

use dumbbell_declare::Amount;
use dumbbell_net::QueueConfig;
use dumbbell_net::queue::{
    bfifo, cake, codel, drr, dualpi2, dummynet, fq, fq_codel, fq_pie, pfifo, pie, red, sfq, step,
    tbf,
};
use proptest::prelude::*;

/// What the settings are made of.
#[derive(Clone, Copy, Debug)]
struct Size {
    limit_pkts: u64,
    ms: u64,
    flag: bool,
    other: bool,
    word: usize,
}

fn step(size: Size) -> step::Config {
    let Size { limit_pkts, ms, .. } = size;
    let half = (limit_pkts / 2).max(1);
    step::Config {
        limit: match size.flag {
            true => Amount::Pkts(limit_pkts),
            false => Amount::Bytes(limit_pkts * 1514),
        },
        threshold: match size.word % 3 {
            0 => Amount::Pkts(half),
            1 => Amount::Bytes(half * 1514),
            _ => Amount::Ns(ms * 50_000),
        },
    }
}

fn fq_codel(size: Size) -> fq_codel::Config {
    fq_codel::Config {
        limit_pkts: size.limit_pkts,
        flows: 4,
        target_ns: size.ms * 50_000,
        interval_ns: size.ms * 1_000_000,
        ecn: size.flag,
        memory_limit_bytes: if size.other { 20_000 } else { 32 << 20 },
        ce_threshold_ns: size.other.then_some(size.ms * 100_000),
        ..fq_codel::Config::default()
    }
}

fn red(size: Size) -> red::Config {
    red::Config {
        limit_bytes: 16 * 1514 + size.limit_pkts * 1514,
        ecn: size.flag,
        adaptive: size.flag,
        gentle: size.other,
        ..red::Config::default()
    }
}

fn sfq(size: Size) -> sfq::Config {
    sfq::Config {
        limit_pkts: size.limit_pkts + 1,
        depth_pkts: 1 + size.limit_pkts / 2,
        divisor: 4,
        headdrop: size.flag,
        perturb_ns: size.other.then_some(size.ms * 1_000_000),
        ..sfq::Config::default()
    }
}

fn tbf(size: Size) -> tbf::Config {
    tbf::Config {
        limit_bytes: size.limit_pkts * 1514,
        rate_bps: size.ms * 5_000_000,
        burst_bytes: 9000,
        peakrate_bps: size.flag.then_some(size.ms * 7_000_000),
        ..tbf::Config::default()
    }
}

fn cake(size: Size) -> cake::Config {
    use cake::{AckFilter, Isolation, Tins};
    cake::Config {
        limit_bytes: Some(size.limit_pkts * (1514 + 576)),
        rate_bps: size.flag.then_some(size.ms * 1_000_000),
        rtt_ns: cake::Rtt(size.ms * 1_000_000),
        ingress: size.other,
        tins: [Tins::besteffort, Tins::diffserv3, Tins::precedence][size.word % 3],
        isolation: [
            Isolation::triple_isolate,
            Isolation::flows,
            Isolation::dual_srchost,
            Isolation::flowblind,
        ][size.word % 4],
        ack_filter: [AckFilter::off, AckFilter::aggressive][size.word % 2],
        ..cake::Config::default()
    }
}

fn fq(size: Size) -> fq::Config {
    fq::Config {
        limit_pkts: size.limit_pkts,
        flow_limit_pkts: 1 + size.limit_pkts / 2,
        maxrate_bps: size.flag.then_some(size.ms * 200_000),
        ce_threshold_ns: Some(size.ms * 50_000),
        flows: 4,
        ..fq::Config::default()
    }
}

fn config(name: &str, size: Size) -> QueueConfig {
    let Size { limit_pkts, .. } = size;
    let (target_ns, ecn) = (size.ms * 50_000, size.flag);
    match name {
        "bfifo" => QueueConfig::from(bfifo::Config {
            limit_bytes: limit_pkts * 1514,
        }),
        "pfifo" => QueueConfig::from(pfifo::Config { limit_pkts }),
        "step" => QueueConfig::from(step(size)),
        "dummynet" => QueueConfig::from(dummynet::Config {
            limit: match ecn {
                true => Amount::Pkts(limit_pkts),
                false => Amount::Bytes(limit_pkts * 1514),
            },
        }),
        "fq" => QueueConfig::from(fq(size)),
        "sfq" => QueueConfig::from(sfq(size)),
        "drr" => QueueConfig::from(drr::Config {
            limit_pkts,
            classes: 4,
            perfect_hash: ecn,
            quantum_bytes: vec![64, 1514, 3000],
        }),
        "tbf" => QueueConfig::from(tbf(size)),
        "codel" => QueueConfig::from(codel::Config {
            limit_pkts,
            target_ns,
            interval_ns: size.ms * 1_000_000,
            ecn,
            ..codel::Config::default()
        }),
        "fq_codel" => QueueConfig::from(fq_codel(size)),
        "pie" => QueueConfig::from(pie::Config {
            limit_pkts,
            target_ns,
            ecn,
            ..pie::Config::default()
        }),
        "fq_pie" => QueueConfig::from(fq_pie::Config {
            limit_pkts,
            flows: 4,
            target_ns,
            ecn,
            ..fq_pie::Config::default()
        }),
        "red" => QueueConfig::from(red(size)),
        "dualpi2" => QueueConfig::from(dualpi2::Config {
            limit_pkts,
            target_ns,
            any_ect: ecn,
            drop_early: size.other,
            ..dualpi2::Config::default()
        }),
        "cake" => QueueConfig::from(cake(size)),
        _ => panic!("`{name}` has no settings here"),
    }
}

/// The discipline of that name.
pub(crate) fn queue_named(name: &'static str) -> impl Strategy<Value = QueueConfig> {
    let flags = (any::<bool>(), any::<bool>());
    (1..40_u64, 1..20_u64, flags, 0..12_usize).prop_map(
        move |(limit_pkts, ms, (flag, other), word)| {
            let size = Size {
                limit_pkts,
                ms,
                flag,
                other,
                word,
            };
            config(name, size)
        },
    )
}
