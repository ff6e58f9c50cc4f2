//! What the kernel of a guest calls: `python/dumbbell/kernels/driver/dumbbell.h` in Rust.
//!
//! The guest is a process with one thread. Its kernel loads this library, asks what to make, and then calls it for every
//! frame and every timer. At the end the library writes the result to the file that the request names, and the kernel
//! ends the process.

mod answer;
mod layout;
#[cfg(target_arch = "x86_64")]
mod process;
pub mod processes;
mod queues;

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::slice;
use std::sync::Arc;

use dumbbell_emu::guest::{
    Guest, KernelFacts, KernelQueue, PlannedCc, PlannedFlow, PlannedHost, RequestedPrograms, files,
};
use dumbbell_scenario::Scenario;

use answer::Answer;
use layout::{ABI, Call, Cc, Flow, Host, LaidOutProgram, LaidOutQdisc, Qdisc, Run, State};

/// Errors of the kernel (errno(3)) for a run that cannot begin.
const EINVAL: c_int = 22;

/// The run of this process.
struct Running {
    guest: Guest,
    hosts: Vec<PlannedHost>,
    flows: Vec<PlannedFlow>,
    algorithms: Vec<PlannedCc>,
    programs: Vec<LaidOutProgram>,
    qdiscs: Vec<LaidOutQdisc>,
    answer: Answer,
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// Calls `work` with the run; a panic, which must not reach the kernel, ends the process with an answer.
fn with<T: Default>(work: impl FnOnce(&mut Running) -> T) -> T {
    RUNNING.with_borrow_mut(|running| {
        let Some(running) = running else {
            return T::default();
        };
        catch_unwind(AssertUnwindSafe(|| work(running))).unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
            running
                .answer
                .fail(&format!("internal error: {}", said.unwrap_or("a panic")));
            std::process::abort()
        })
    })
}

/// Reads the request and says what the run is; 0, or an error of the kernel after the answer was written.
///
/// # Safety
///
/// `request` is a C string, and `run` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_open(
    abi: c_uint,
    request: *const c_char,
    run: *mut Run,
) -> c_int {
    // SAFETY: the caller says so.
    let (request, run) = unsafe { (CStr::from_ptr(request), &mut *run) };
    let directory = PathBuf::from(request.to_string_lossy().into_owned());
    let answer = Answer::of(directory.clone());
    if abi != ABI {
        answer.fail("the kernel was built for another version of dumbbell; build it again with `dumbbell kernel build`");
        return -EINVAL;
    }
    // SAFETY: the kernel has filled it in.
    let kernel = unsafe { run.kernel() };
    match open(&directory, &kernel) {
        Ok(mut guest) => {
            give_queues(&mut guest, run);
            let running = Running {
                hosts: guest.hosts(),
                flows: guest.flows(),
                algorithms: guest.algorithms(),
                programs: guest.programs().iter().map(LaidOutProgram::of).collect(),
                qdiscs: guest.qdiscs().iter().map(LaidOutQdisc::of).collect(),
                guest,
                answer,
            };
            *run = run.of(
                &running.guest,
                running.hosts.len(),
                running.flows.len(),
                running.algorithms.len(),
            );
            RUNNING.set(Some(running));
            0
        }
        Err(message) => {
            answer.fail(&message);
            -EINVAL
        }
    }
}

fn open(directory: &std::path::Path, kernel: &KernelFacts<'_>) -> Result<Guest, String> {
    let path = directory.join(files::SCENARIO);
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let scenario: Scenario =
        serde_json::from_str(&text).map_err(|error| format!("scenario: {error}"))?;
    let capture = match std::fs::read(directory.join(files::CAPTURE)) {
        Ok(request) => files::read_capture(&request),
        Err(_) => None,
    };
    let programs = match std::fs::read(directory.join(files::PROGRAMS)) {
        Ok(request) => RequestedPrograms::read(&request),
        Err(_) => None,
    };
    Guest::new(&scenario, kernel, capture.as_ref(), programs).map_err(|error| error.to_string())
}

/// Gives the run the kernel's part of its queue disciplines.
fn give_queues(guest: &mut Guest, run: &Run) {
    let (Some(enqueue), Some(dequeue)) = (run.enqueue, run.dequeue) else {
        return;
    };
    let queues = (0..guest.qdiscs().len()).map(|number| {
        // SAFETY: they are the kernel's, and the network only runs while the kernel calls this library.
        let queue: Arc<dyn KernelQueue> =
            Arc::new(unsafe { queues::Qdisc::new(number, enqueue, dequeue) });
        queue
    });
    let queues = queues.collect();
    guest.give_queues(queues);
}

/// Describes a host.
///
/// # Safety
///
/// `host` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_host(number: c_uint, host: *mut Host) {
    with(|running| {
        if let Some(planned) = running.hosts.get(number as usize) {
            // SAFETY: the caller says so.
            unsafe { host.write(Host::of(planned)) };
        }
    });
}

/// Describes a flow.
///
/// # Safety
///
/// `flow` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_flow(number: c_uint, flow: *mut Flow) {
    with(|running| {
        if let Some(planned) = running.flows.get(number as usize) {
            // SAFETY: the caller says so.
            unsafe { flow.write(Flow::of(planned)) };
        }
    });
}

/// Describes an algorithm that the kernel is to call.
///
/// # Safety
///
/// `cc` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_cc(number: c_uint, cc: *mut Cc) {
    with(|running| {
        if let Some(planned) = running.algorithms.get(number as usize) {
            // SAFETY: the caller says so.
            unsafe { cc.write(Cc::of(planned)) };
        }
    });
}

/// Describes a queue discipline, until the end of the run.
///
/// # Safety
///
/// `qdisc` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_qdisc(number: c_uint, qdisc: *mut Qdisc) {
    with(|running| {
        if let Some(laid_out) = running.qdiscs.get(number as usize) {
            // SAFETY: the caller says so.
            unsafe { qdisc.write(laid_out.qdisc) };
        }
    });
}

/// A queue discipline wants to be asked for a packet; when the network is due next.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_guest_qdisc_ready(now_ns: u64, number: c_uint) -> u64 {
    with(|running| running.guest.queue_ready(now_ns, number))
}

/// No more is measured; when the network is due next.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_guest_over(now_ns: u64) -> u64 {
    with(|running| running.guest.over(now_ns))
}

/// Ends the process with an error as its answer.
fn stop(running: &Running, error: &dumbbell_emu::Error) -> ! {
    running.answer.fail(&error.to_string());
    std::process::exit(1)
}

/// Calls an algorithm; the callback's value, of `init` the handle.
///
/// # Safety
///
/// `call` is whole, and its socket has no other user meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_call(call: *const Call) -> c_uint {
    // SAFETY: the caller says so.
    let call = unsafe { &*call }.read();
    // SAFETY: the caller says so.
    with(|running| unsafe { running.guest.call(&call) })
}

/// The run begins.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_guest_begin(now_ns: u64, epoch_ns: u64) {
    with(|running| {
        if let Err(error) = running.guest.begin(now_ns, epoch_ns) {
            running.answer.fail(&error.to_string());
        }
    });
}

/// A host sends a frame; when the network is due next.
///
/// # Safety
///
/// `frame` has this number of bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_enter(
    now_ns: u64,
    host: c_uint,
    frame: *const u8,
    bytes: c_uint,
) -> u64 {
    // SAFETY: the caller says so.
    let frame = unsafe { slice::from_raw_parts(frame, bytes as usize) };
    with(|running| running.guest.enter(now_ns, host, frame))
}

/// Everything happens that is due; when the network is due next.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_guest_advance(now_ns: u64) -> u64 {
    with(|running| running.guest.advance(now_ns))
}

/// A frame that has left the network: its length, 0 if there is none. It stays until the next call of this function.
///
/// # Safety
///
/// `host` and `frame` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_take(
    host: *mut c_uint,
    frame: *mut *const c_void,
) -> c_uint {
    with(|running| match running.guest.take() {
        Some((number, bytes)) => {
            // SAFETY: the caller says so.
            unsafe {
                host.write(number);
                frame.write(bytes.as_ptr().cast());
            }
            bytes.len() as c_uint
        }
        None => 0,
    })
}

/// A flow's handshake is done.
///
/// # Safety
///
/// `info` has this number of bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_established(
    now_ns: u64,
    flow: c_uint,
    info: *const u8,
    bytes: c_uint,
) {
    // SAFETY: the caller says so.
    let info = unsafe { layout::answer(info, bytes) };
    with(|running| running.guest.established(now_ns, flow, info));
}

/// Everything that a flow has written is acknowledged.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_guest_finished(now_ns: u64, flow: c_uint) {
    with(|running| running.guest.finished(now_ns, flow));
}

/// A flow is sampled.
///
/// # Safety
///
/// `state` is whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_sample(now_ns: u64, flow: c_uint, state: *const State) {
    // SAFETY: the caller says so.
    let state = unsafe { (*state).read() };
    with(|running| running.guest.sample(now_ns, flow, &state));
}

/// All flows that are active were sampled; a signal for clients, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_guest_sampled(now_ns: u64, instant_ns: u64) -> c_uint {
    with(|running| {
        running.guest.sampled(now_ns, instant_ns);
        running.answer.note_progress(instant_ns);
        if let Some(failure) = running.guest.failure() {
            stop(running, failure);
        }
        running.answer.take_signal()
    })
}

/// A flow's state at the end.
///
/// # Safety
///
/// `state` is whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_final(flow: c_uint, state: *const State) {
    // SAFETY: the caller says so.
    let state = unsafe { (*state).read() };
    with(|running| running.guest.final_state(flow, &state));
}

/// The run is over: the answer is written.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_guest_end(now_ns: u64) {
    let Some(running) = RUNNING.take() else {
        return;
    };
    match running.guest.end(now_ns) {
        Ok(output) => running.answer.succeed(&output),
        Err(error) => running.answer.fail(&error.to_string()),
    }
}

/// The kernel could not do something, of a flow if it is not negative.
///
/// # Safety
///
/// `what` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_failed(what: *const c_char, flow: c_int, error: c_int) {
    // SAFETY: the caller says so.
    let what = unsafe { CStr::from_ptr(what) }.to_string_lossy();
    let cause = std::io::Error::from_raw_os_error(error.abs());
    with(|running| {
        let number = u32::try_from(flow).ok();
        let planned = running.flows.iter().find(|it| Some(it.number) == number);
        let whose = planned.map_or(String::new(), |planned| {
            format!("flow {flow} (`linux/{}`) ", planned.cc)
        });
        // Only its `tc` says why, to no one.
        let asked = running.qdiscs.iter().map(LaidOutQdisc::command);
        let asked = match what.starts_with("queue disciplines") {
            true => format!(" (`{}`)", asked.collect::<Vec<_>>().join("`, `")),
            false => String::new(),
        };
        running
            .answer
            .fail(&format!("{whose}{what}{asked}: {cause}"));
    });
}
