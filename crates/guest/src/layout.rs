//! The structures of `dumbbell.h`.

mod program;

use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::{ptr, slice};

use dumbbell_cc_abi::{AckSample, RateSample};
use dumbbell_emu::guest::{
    self, Guest, KernelFacts, KernelField, PlannedCc, PlannedFlow, PlannedHost, PlannedQdisc,
};

use crate::queues;
pub(crate) use program::{LaidOutProgram, Program};

/// Version of `dumbbell.h`: `DUMBBELL_ABI`.
pub(crate) const ABI: c_uint = 4;

/// `DUMBBELL_CC_BYTES`: Linux's `TCP_CA_NAME_MAX`.
const CC_BYTES: usize = 16;

const RELEASE_BYTES: usize = 64;

/// The layout of `struct dumbbell_run` in C.
#[repr(C)]
pub struct Run {
    hosts: c_uint,
    flows: c_uint,
    duration_ns: u64,
    sample_interval_ns: u64,
    largest_bytes: c_uint,
    ccs: c_uint,
    release: [c_char; RELEASE_BYTES],
    fields: *const Field,
    field_count: c_uint,
    hz: c_uint,
    programs: c_uint,
    qdiscs: c_uint,
    pub(crate) enqueue: Option<queues::Call>,
    pub(crate) dequeue: Option<queues::Call>,
}

/// The layout of `struct dumbbell_field` in C.
#[repr(C)]
pub(crate) struct Field {
    name: *const c_char,
    offset: c_uint,
    bytes: c_uint,
}

impl Run {
    /// A run of these numbers, for a kernel that has said this of itself.
    pub(crate) fn of(&self, guest: &Guest, hosts: usize, flows: usize, ccs: usize) -> Self {
        Self {
            hosts: hosts as c_uint,
            flows: flows as c_uint,
            duration_ns: guest.duration_ns(),
            sample_interval_ns: guest.sample_interval_ns(),
            largest_bytes: guest.largest_frame_bytes() as c_uint,
            ccs: ccs as c_uint,
            release: [0; RELEASE_BYTES],
            fields: ptr::null(),
            field_count: 0,
            hz: 0,
            programs: guest.programs().len() as c_uint,
            qdiscs: guest.qdiscs().len() as c_uint,
            enqueue: self.enqueue,
            dequeue: self.dequeue,
        }
    }

    /// What the kernel has written of itself.
    ///
    /// # Safety
    ///
    /// There are as many fields as it says, and their names are C strings that stay.
    pub(crate) unsafe fn kernel(&self) -> KernelFacts<'static> {
        let release = self.release.map(|byte| byte as u8);
        let release = CStr::from_bytes_until_nul(&release)
            .map_or(String::new(), |text| text.to_string_lossy().into_owned());
        // SAFETY: the caller says so.
        let fields = unsafe { slice::from_raw_parts(self.fields, self.field_count as usize) };
        let fields = fields.iter().map(|field| KernelField {
            // SAFETY: the caller says so.
            name: unsafe { CStr::from_ptr(field.name) }.to_str().unwrap_or(""),
            offset: field.offset as usize,
            bytes: field.bytes as usize,
        });
        KernelFacts {
            release,
            hz: self.hz,
            fields: fields.collect(),
        }
    }
}

/// The layout of `struct dumbbell_cc` in C.
#[repr(C)]
pub struct Cc {
    callbacks: c_uint,
    flags: c_uint,
    name: [c_char; CC_BYTES],
}

impl Cc {
    pub(crate) fn of(planned: &PlannedCc) -> Self {
        Self {
            callbacks: planned.callbacks,
            flags: planned.flags,
            name: cc_name(&planned.name),
        }
    }
}

fn cc_name(name: &str) -> [c_char; CC_BYTES] {
    let mut bytes = [0; CC_BYTES];
    for (to, from) in bytes[..CC_BYTES - 1].iter_mut().zip(name.bytes()) {
        *to = from as c_char;
    }
    bytes
}

/// The layout of `struct dumbbell_call` in C.
#[repr(C)]
pub struct Call {
    op: c_uint,
    cc: c_uint,
    flow: c_uint,
    handle: c_uint,
    socket: *mut u8,
    jiffies32: c_uint,
    ca_state: u8,
    is_cwnd_limited: u8,
    rate_app_limited: u8,
    rx_opt_bits: u8,
    arguments: [c_uint; 2],
    pkts_acked: c_uint,
    rtt_us: c_int,
    in_flight: c_uint,
    sample: RateSample,
}

impl Call {
    pub(crate) fn read(&self) -> guest::Call {
        guest::Call {
            op: self.op,
            cc: self.cc,
            flow: self.flow,
            handle: self.handle,
            socket: self.socket,
            jiffies: self.jiffies32,
            ca_state: self.ca_state,
            limited: [self.is_cwnd_limited != 0, self.rate_app_limited != 0],
            rx_opt_bits: self.rx_opt_bits,
            arguments: self.arguments,
            acked: AckSample {
                pkts_acked: self.pkts_acked,
                rtt_us: self.rtt_us,
                in_flight: self.in_flight,
            },
            sample: self.sample,
        }
    }
}

/// The layout of `struct dumbbell_host` in C.
#[repr(C)]
pub struct Host {
    address: u32,
    mtu: c_uint,
    gso_max_segs: c_uint,
    rmem: [c_int; 3],
    wmem: [c_int; 3],
    slow_start_after_idle: u8,
    ecn: u8,
    listens: u8,
    dscp: u8,
    quick_ack: u8,
    no_accecn_option: u8,
    port: u16,
    window_bytes: c_uint,
    rcvbuf_bytes: c_uint,
    runs_programs: u8,
    address6: [u8; 16],
    cc: [c_char; CC_BYTES],
    names: *const c_char,
    resolver: *const c_char,
}

impl Host {
    /// Texts are the plan's, which must stay.
    pub(crate) fn of(planned: &PlannedHost) -> Self {
        let buffers = planned.buffers_bytes.map(Option::unwrap_or_default);
        let [rmem, wmem] = buffers.map(|bytes| bytes.map(|bytes| bytes as c_int));
        let for_programs = planned.for_programs.as_ref();
        let cc = for_programs.and_then(|it| it.cc.as_deref());
        let listener = planned.listener.as_ref();
        let (window_bytes, rcvbuf_bytes) =
            listener.and_then(|it| it.window_bytes).unwrap_or_default();
        Self {
            address: u32::from_ne_bytes(planned.address.octets()),
            mtu: planned.mtu_bytes,
            gso_max_segs: planned.gso_max_segs.unwrap_or(0),
            rmem,
            wmem,
            slow_start_after_idle: planned.slow_start_after_idle.into(),
            ecn: planned.ecn,
            listens: listener.is_some().into(),
            dscp: listener.map_or(0, |it| it.dscp),
            quick_ack: planned.quick_ack.into(),
            no_accecn_option: (!planned.accecn_option).into(),
            port: listener.map_or(0, |it| it.port),
            window_bytes,
            rcvbuf_bytes: c_uint::try_from(rcvbuf_bytes).unwrap_or(c_uint::MAX) & !1,
            runs_programs: for_programs.is_some().into(),
            address6: for_programs.map_or([0; 16], |it| it.address6.octets()),
            cc: cc_name(cc.unwrap_or_default()),
            // Processes of applications look at no names, but have files of them.
            names: for_programs.map_or(c"".as_ptr(), |it| it.names.as_ptr()),
            resolver: for_programs.map_or(c"".as_ptr(), |it| it.resolver.as_ptr()),
        }
    }
}

/// The layout of `struct dumbbell_flow` in C.
#[repr(C)]
pub struct Flow {
    cc: [c_char; CC_BYTES],
    number: c_uint,
    sender: c_uint,
    receiver: c_uint,
    port: u16,
    nodelay: u8,
    dscp: u8,
    start_ns: u64,
    stop_ns: u64,
    size_bytes: u64,
    sndbuf_bytes: c_uint,
    notsent_lowat_bytes: c_uint,
    write_bytes: c_uint,
    prompt_bytes: c_uint,
    low_water_bytes: c_uint,
}

impl Flow {
    pub(crate) fn of(planned: &PlannedFlow) -> Self {
        let [sender, receiver] = planned.hosts;
        let memory_bytes = planned.send_memory_bytes.unwrap_or(0);
        Self {
            cc: cc_name(&planned.cc),
            number: planned.number,
            sender,
            receiver,
            port: planned.port,
            nodelay: planned.nodelay.into(),
            dscp: planned.dscp,
            start_ns: planned.start_ns,
            stop_ns: planned.stop_ns,
            size_bytes: planned.size_bytes,
            sndbuf_bytes: memory_bytes.min(c_int::MAX as u64) as c_uint,
            notsent_lowat_bytes: planned.unsent_bytes,
            write_bytes: planned.write_bytes,
            prompt_bytes: planned.prompt_bytes,
            low_water_bytes: planned.low_water_bytes,
        }
    }
}

/// The layout of `struct dumbbell_qdisc` in C.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Qdisc {
    program: *const c_char,
    words: *const *const c_char,
    device: *const c_char,
}

/// A queue discipline as the kernel gets it, with all that it refers to.
pub(crate) struct LaidOutQdisc {
    pub(crate) qdisc: Qdisc,
    _words: Vec<*const c_char>,
    planned: PlannedQdisc,
}

impl LaidOutQdisc {
    pub(crate) fn of(planned: &PlannedQdisc) -> Self {
        let planned = planned.clone();
        let words = addresses(&planned.words);
        // Texts and lists are on the heap, where they stay.
        let qdisc = Qdisc {
            program: planned.program.as_ptr(),
            words: words.as_ptr(),
            device: planned.device.as_ptr(),
        };
        Self {
            qdisc,
            _words: words,
            planned,
        }
    }

    /// The command that makes it.
    pub(crate) fn command(&self) -> &str {
        &self.planned.command
    }
}

/// Texts as C has them: the list ends in a null pointer.
fn addresses(texts: &[CString]) -> Vec<*const c_char> {
    let each = texts.iter().map(|text| text.as_ptr());
    each.chain([ptr::null()]).collect()
}

/// The layout of `struct dumbbell_queued` in C.
#[repr(C)]
pub(crate) struct Queued {
    pub(crate) qdisc: c_uint,
    pub(crate) number: c_uint,
    pub(crate) packet: *const u8,
    pub(crate) bytes: c_uint,
    pub(crate) ecn: c_uint,
    pub(crate) dropped: *mut c_uint,
    pub(crate) room: c_uint,
    pub(crate) drops: c_uint,
}

impl Default for Queued {
    fn default() -> Self {
        Self {
            qdisc: 0,
            number: 0,
            packet: ptr::null(),
            bytes: 0,
            ecn: 0,
            dropped: ptr::null_mut(),
            room: 0,
            drops: 0,
        }
    }
}

/// The layout of `struct dumbbell_answer` in C.
#[repr(C)]
pub(crate) struct Answer {
    bytes: *const u8,
    length: c_uint,
}

/// The layout of `struct dumbbell_state` in C.
#[repr(C)]
pub struct State {
    sender: Answer,
    receiver: Answer,
    cc: Answer,
    name: *const c_char,
    written_bytes: u64,
    lost_pkts: c_uint,
    handle: c_uint,
}

impl State {
    /// # Safety
    ///
    /// The answers are as long as they say, and the name is a C string.
    pub(crate) unsafe fn read(&self) -> guest::State<'_> {
        // SAFETY: the caller says so.
        unsafe {
            guest::State {
                sender: answer(self.sender.bytes, self.sender.length),
                receiver: answer(self.receiver.bytes, self.receiver.length),
                cc: answer(self.cc.bytes, self.cc.length),
                name: CStr::from_ptr(self.name).to_str().unwrap_or(""),
                written_bytes: self.written_bytes,
                lost_pkts: self.lost_pkts,
                handle: self.handle,
            }
        }
    }
}

/// The bytes of an answer; none without a pointer.
///
/// # Safety
///
/// There are as many bytes there.
pub(crate) unsafe fn answer<'a>(bytes: *const u8, length: c_uint) -> &'a [u8] {
    if bytes.is_null() {
        return &[];
    }
    // SAFETY: the caller says so.
    unsafe { slice::from_raw_parts(bytes, length as usize) }
}
