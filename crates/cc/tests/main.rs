//! Congestion control algorithms as they are built, loaded and called; one file or directory each.

mod ack_clock;
mod bbr;
mod bbr3;
mod bbr_fca;
mod bbr_versions;
mod bpf_sources;
mod classic_aqm;
mod common;
mod copa;
mod cubic;
mod dctcp;
mod errors;
mod field_reports;
mod hosted;
mod hosting;
mod kernel_module;
mod l3dr;
mod ledbat;
mod nagi;
mod prague;
mod reno;
mod rounds;
mod vegas;
