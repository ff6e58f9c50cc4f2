//! Congestion control algorithms that are not written in C: an implementation of [`Hooks`] is called instead.
//!
//! Their ops table has functions of ours, which find the flow's [`Hooks`] at the address where the
//! socket carries C's storage. Calling C therefore costs nothing more.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fmt;
use std::ptr::{self, NonNull};
use std::rc::Rc;

use dumbbell_cc_abi::{AckSample, Ops, RateSample, Sock, TCP_CA_NAME_MAX};

use crate::host::fault::Fault;
use crate::host::running::SharedRunning;
use crate::object::declarations::{Declarations, Param, Series};

/// A call of one of `tcp_congestion_ops`, with its arguments except the socket.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "they are Linux's")]
pub enum Hook<'a> {
    Ssthresh,
    CongAvoid {
        ack: u32,
        acked: u32,
    },
    SetState(u8),
    CwndEvent(u32),
    InAckEvent(u32),
    PktsAcked(&'a AckSample),
    MinTsoSegs,
    CongControl {
        ack: u32,
        flag: i32,
        rs: &'a RateSample,
    },
    UndoCwnd,
    SndbufExpand,
    Init,
    Release,
}

/// One flow's congestion control.
pub trait Hooks {
    /// Handles the call. The value is used for hooks that return one. An error completes a sentence
    /// that begins with the name: ``raised ZeroDivisionError…``.
    fn call(&mut self, sock: &mut Sock, hook: Hook<'_>) -> Result<u32, String>;

    /// Hands each series' index and raw value to `take`.
    fn read_series(&self, take: &mut dyn FnMut(usize, u64));
}

/// A congestion control algorithm that is not written in C, ready to be hosted.
pub struct Hosted {
    /// Its name, 1 to 15 bytes.
    pub name: String,
    /// A digest of its source.
    pub build: String,
    /// The parameters in force.
    pub params: BTreeMap<String, i64>,
    /// What parameters it declares, made with [`Param::of`].
    pub parameters: Vec<Param>,
    /// Its time series, made with [`Series::unscaled`].
    pub series: Vec<Series>,
    /// Names of the hooks that it has.
    pub hooks: Vec<String>,
    /// Makes one for a new flow.
    pub new_flow: NewFlow,
}

/// Makes one flow's congestion control.
pub type NewFlow = Box<dyn Fn() -> Result<Box<dyn Hooks>, String>>;

impl fmt::Debug for Hosted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hosted")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Hosted {
    /// One for a new flow; if it could not be made, one that only reports the failure.
    pub(crate) fn make(&self) -> Box<dyn Hooks> {
        (self.new_flow)().unwrap_or_else(|violation| {
            Box::new(Unmade {
                violation,
                series: self.series.len(),
            })
        })
    }

    pub(crate) fn declarations(&self) -> Declarations {
        Declarations {
            params: self.parameters.clone(),
            series: self.series.clone(),
            ..Declarations::default()
        }
    }

    /// An ops table with a function for each hook that is present.
    pub(crate) fn ops(&self) -> Ops {
        let has = |name: &str| self.hooks.iter().any(|hook| hook == name);
        let mut name = [0; TCP_CA_NAME_MAX];
        let length = self.name.len().min(TCP_CA_NAME_MAX - 1);
        name[..length].copy_from_slice(&self.name.as_bytes()[..length]);
        Ops {
            ssthresh: has("ssthresh").then_some(ssthresh),
            cong_avoid: has("cong_avoid").then_some(cong_avoid),
            set_state: has("set_state").then_some(set_state),
            cwnd_event: has("cwnd_event").then_some(cwnd_event),
            cwnd_event_tx_start: None,
            in_ack_event: has("in_ack_event").then_some(in_ack_event),
            pkts_acked: has("pkts_acked").then_some(pkts_acked),
            min_tso_segs: has("min_tso_segs").then_some(min_tso_segs),
            cong_control: has("cong_control").then_some(cong_control),
            undo_cwnd: has("undo_cwnd").then_some(undo_cwnd),
            sndbuf_expand: has("sndbuf_expand").then_some(sndbuf_expand),
            init: has("init").then_some(init),
            release: has("release").then_some(release),
            flags: 0,
            name,
        }
    }
}

/// Stands for a congestion control algorithm that could not be made.
struct Unmade {
    violation: String,
    series: usize,
}

impl Hooks for Unmade {
    fn call(&mut self, _sock: &mut Sock, _hook: Hook<'_>) -> Result<u32, String> {
        Err(self.violation.clone())
    }

    fn read_series(&self, take: &mut dyn FnMut(usize, u64)) {
        (0..self.series).for_each(|index| take(index, 0));
    }
}

/// A flow's hooks, and where their failure is reported.
pub(crate) struct HostedFlow {
    hooks: Box<dyn Hooks>,
    requested: String,
    fault: Rc<OnceCell<Fault>>,
    running: SharedRunning,
}

impl HostedFlow {
    fn call(&mut self, sock: &mut Sock, hook: Hook<'_>) -> u32 {
        if self.fault.get().is_none() {
            match self.hooks.call(sock, hook) {
                Ok(value) => return value,
                Err(violation) => self.note(violation),
            }
        }
        // The run ends when the fault is checked; until then return something plausible.
        match hook {
            Hook::Ssthresh => (sock.snd_cwnd / 2).max(2),
            _ => sock.snd_cwnd,
        }
    }

    fn note(&self, violation: String) {
        let call = self.running.call(0);
        // Only the first is reported.
        let _ = self.fault.set(Fault {
            cc: self.requested.clone(),
            op: call.map_or("init", |call| call.op),
            flow: call.map_or(0, |call| call.flow),
            now_ns: call.map_or(0, |call| call.now_ns),
            violation,
            remedy: "fix it there".to_owned(),
        });
    }
}

/// Owned by a flow. A raw allocation, because the table's functions borrow it by its address.
pub(crate) struct HostedPointer(NonNull<HostedFlow>);

impl HostedPointer {
    pub(crate) fn new(
        hooks: Box<dyn Hooks>,
        requested: &str,
        fault: &Rc<OnceCell<Fault>>,
        running: &SharedRunning,
    ) -> Self {
        let flow = Box::new(HostedFlow {
            hooks,
            requested: requested.to_owned(),
            fault: Rc::clone(fault),
            running: SharedRunning::clone(running),
        });
        Self(NonNull::from(Box::leak(flow)))
    }

    pub(crate) fn address(&self) -> u64 {
        self.0.as_ptr().expose_provenance() as u64
    }

    pub(crate) fn read_series(&self, take: &mut dyn FnMut(usize, u64)) {
        // SAFETY: allocated by `new`; the functions of the table write it only during calls that
        // borrow the flow, and so this, exclusively.
        unsafe { self.0.as_ref() }.hooks.read_series(take);
    }
}

impl fmt::Debug for HostedPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostedPointer")
    }
}

impl Drop for HostedPointer {
    fn drop(&mut self) {
        // SAFETY: leaked from a Box in `new`, and freed once.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// Calls the hooks of a socket's flow.
///
/// # Safety
///
/// `sock` carries the address of a [`HostedFlow`] that nothing else uses during the call;
/// `Flow::enter` ensures it.
unsafe fn call(sock: &mut Sock, hook: Hook<'_>) -> u32 {
    let address = sock.host_storage as usize;
    // SAFETY: the caller's contract; the address was exposed by `HostedPointer::address`.
    let flow = unsafe { &mut *ptr::with_exposed_provenance_mut::<HostedFlow>(address) };
    flow.call(sock, hook)
}

/// Defines callbacks of the ops table that call a hook.
macro_rules! callbacks {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $value:ty)? => $hook:expr;)+) => {
        $(unsafe extern "C" fn $name(sock: &mut Sock, $($argument: $type),*) $(-> $value)? {
            // SAFETY: callbacks have the contract of `call`.
            let value = unsafe { call(sock, $hook) };
            callbacks!(@return value $($value)?)
        })+
    };
    (@return $returned:ident $value:ty) => { $returned };
    (@return $returned:ident) => {{ let _ = $returned; }};
}

callbacks! {
    ssthresh() -> u32 => Hook::Ssthresh;
    cong_avoid(ack: u32, acked: u32) => Hook::CongAvoid { ack, acked };
    set_state(state: u8) => Hook::SetState(state);
    cwnd_event(event: u32) => Hook::CwndEvent(event);
    in_ack_event(flags: u32) => Hook::InAckEvent(flags);
    pkts_acked(sample: &AckSample) => Hook::PktsAcked(sample);
    min_tso_segs() -> u32 => Hook::MinTsoSegs;
    cong_control(ack: u32, flag: c_int, rs: &RateSample) => Hook::CongControl { ack, flag, rs };
    undo_cwnd() -> u32 => Hook::UndoCwnd;
    sndbuf_expand() -> u32 => Hook::SndbufExpand;
    init() => Hook::Init;
    release() => Hook::Release;
}
