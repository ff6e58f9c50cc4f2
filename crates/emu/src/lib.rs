//! dumbbell's kernel engine: the scenario on this machine's Linux TCP.
//!
//! Hosts are network namespaces, flows are sockets, and the path between them is the
//! network of `dumbbell-net`, driven by the monotonic clock.
//!
//! Each module uses only those above it:
//!
//! | module | what |
//! |---|---|
//! | `error` | why a run fails |
//! | `check` | what this engine refuses |
//! | `machine` | keeps CPUs awake; clocks, CPU time, priorities, limits, readiness of files |
//! | `run_end` | when measuring ends |
//! | `packet` | packets as bytes: headers, offloaded packets of TUN devices, frames |
//! | `hosts` | network namespaces with a TUN device each, and interfaces of this machine |
//! | `gateway` | the way out of the hosts; `python/dumbbell/emulation/way_out.py` translates its addresses (NAT) |
//! | `programs` | the user's programs in the hosts |
//! | `sockets` | the flows' sockets, and the threads that send and receive |
//! | `bpf` | congestion control algorithms in the running kernel, and their state |
//! | `applications` | flows that open connections as they go along, and the thread that runs them |
//! | `sampling` | samples of the sockets and of the algorithms' state |
//! | `interface_capture` | what passes interfaces of this machine, written to files |
//! | `capture` | what passes the relay, written to a file |
//! | `relay` | the path between the hosts |
//! | `traffic` | all flows of a run: sockets, threads, samples |
//! | `between` | interfaces of this machine as the ends of the path |
//! | `calibration` | how the idle path differs from what was asked for |
//! | `receive_window` | reduces receive windows to what Linux's sockets reach |
//! | `flows_of_programs` | what a run reports of its programs' flows |
//! | `measured`, `summarize` | a run's measurements and its result |
//! | `snapshot` | how a running network is at a moment |
//! | `prepared` | hosts whose idle path has been measured |
//! | `emulation` | a network with hosts that runs until it is stopped |
//! | `run` | a whole run |
//! | `uml` | a whole run in a guest, whose process it starts |
//! | `guest` | the same in the process of a guest in virtual time |
//! | `facts` | which of a run's requirements this machine meets |

mod applications;
mod between;
mod bpf;
mod calibration;
mod capture;
mod check;
mod emulation;
mod error;
mod facts;
mod flows_of_programs;
mod gateway;
pub mod guest;
mod hosts;
mod interface_capture;
mod machine;
mod measured;
mod packet;
mod prepared;
mod programs;
mod receive_window;
mod relay;
mod run;
mod run_end;
mod sampling;
#[cfg(test)]
mod skipped;
mod snapshot;
mod sockets;
mod summarize;
#[cfg(test)]
mod testbed;
mod traffic;
pub mod uml;

pub use between::{Between, Rebind, Rebound};
pub use check::check;
pub use emulation::Emulation;
pub use error::Error;
pub use facts::{Fact, Need, Status, machine};
pub use gateway::Gateway;
pub use machine::awake::KeptAwake;
pub use programs::{Command, Exit, Process, Side};
pub use run::run;
pub use snapshot::{FlowSnapshot, LinkSnapshot, Snapshot};

/// Loads a congestion control algorithm into the running kernel, so that its verifier checks it, and unloads
/// it.
///
/// # Errors
///
/// The verifier's message, or why this machine cannot load it.
pub fn verify(name: &str) -> Result<(), Error> {
    let request = dumbbell_cc::Request {
        name: name.to_owned(),
        ..dumbbell_cc::Request::default()
    };
    bpf::Loaded::load(&request).map(drop)
}
