//! smoke
#![allow(clippy::print_stdout, dead_code, unused_imports)]
mod bed;
use bed::*;

fn trace(bed: &mut Bed, seconds: f64) {
    let mut last = "";
    let start_lost = bed.lost_pkts;
    bed.run(seconds, |b| {
        let s = b.state();
        if s != last {
            println!("{:8.3} {:9} cwnd {:5} infl {:5} bw {:6.2} max {:6.2} st {:6.2} lt {:6} sh {:6} ex {:4} fbc {} now {} rtt {} srtt {} lost {} pace {:.1} dl {}", b.now_s(), s, b.sock().snd_cwnd, b.sock().packets_in_flight(), b.series("bw_bps") as f64/1e6, b.series("max_bw_bps") as f64/1e6, (b.series("bw_shortterm_bps") as f64/1e6).min(999.0), b.series("inflight_longterm_pkts").min(99999), b.series("inflight_shortterm_pkts").min(99999), b.series("extra_acked_pkts"), b.series("full_bw_count"), b.series("full_bw_now"), b.series("min_rtt_us"), b.sock().srtt_us>>3, b.lost_pkts - start_lost, b.sock().sk_pacing_rate as f64*8.0/1e6, b.sock().delivered);
            last = s;
        }
        false
    });
}

#[test]
fn smoke() {
    let mut bed = Bed::new(50_000_000, 40, 1300, &[]);
    println!("bdp {}", bed.bdp_pkts());
    trace(&mut bed, 20.0);
    println!("shallow");
    let mut bed = Bed::new(50_000_000, 40, 50, &[]);
    trace(&mut bed, 20.0);
}
