//! A loaded congestion control: C in a mapping of its own, or a hosted one.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::mem;
use std::num::NonZero;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use dumbbell_cc_abi::{
    ModuleOps, TCP_CONG_ECT_1_NEGOTIATION, TCP_CONG_NEEDS_ACCECN, TCP_CONG_NEEDS_ECN,
};
use libloading::os::unix::Library;

use crate::build::artifact::{Object, Target};
use crate::build::file_name::FileName;
use crate::build::find::find;
use crate::describe::{Declared, Kind};
use crate::error::Error;
use crate::host::crash;
use crate::host::fault::Fault;
use crate::host::flow::Flow;
use crate::host::hosted::{Hosted, HostedPointer};
use crate::host::mapping::{ForgetSocket, Mapping, Unmapped, are_in_one_object};
use crate::host::running::{Running, SharedRunning};
use crate::object::contents::Contents;
use crate::object::declarations::{Declarations, Reader, Series};
use crate::object::elf::Elf;
use crate::object::ops;
use crate::request::{Request, choose_params};

/// A loaded congestion control with its parameters set: a private mapping of the
/// shared object that no other instance sees. It lives as long as any of its flows.
#[derive(Debug)]
pub struct Instance {
    ops: Rc<ModuleOps>,
    name: String,
    contents: Arc<Contents>,
    params: BTreeMap<String, i64>,
    /// The table that a kernel module registered, in its own data.
    module_ops: Option<NonNull<ModuleOps>>,
    /// The requested name or file.
    requested: String,
    running: SharedRunning,
    /// What its flows' path and the buffers on it hold, packets; `u64::MAX`: not known.
    path_pkts: Cell<u64>,
    /// Whether [`Self::set_default_window`] was called.
    has_default_window: Cell<bool>,
    /// The first fault; shared with hosted flows.
    fault: Rc<OnceCell<Fault>>,
    /// Makes its flows, if it is not written in C.
    hosted: Option<Hosted>,
    /// Removes a closed socket's state from the maps; `None` if the object has none.
    forget_socket: Option<ForgetSocket>,
    /// The instance's clock, `dumbbell_now_ns`.
    now_ns: NonNull<u64>,
    // The mapping is dropped before the file: a loaded library is known by its path, and the
    // descriptor's number must not name another file while this one is mapped.
    library: Option<Library>,
    _file: Option<File>,
    /// The clock of one that is not written in C; in an `Rc` because `now_ns` points into it and
    /// moving a `Box` would invalidate that pointer.
    _clock: Option<Rc<Cell<u64>>>,
}

impl Drop for Instance {
    /// In a process for one run, which ends with it, no destructor of the object is run: it might
    /// never return.
    fn drop(&mut self) {
        if crash::is_watched() {
            mem::forget(self.library.take());
        }
    }
}

impl Instance {
    /// Loads a private copy of a congestion control algorithm, sets its parameters, and seeds its
    /// random generator.
    pub fn load(request: &Request, seed: u64) -> Result<Rc<Self>, Error> {
        let build = find(&request.name, Target::Native)?;
        let instance = Self::new(request, &build.object, seed)?;
        crash::watch(&instance.running);
        Ok(Rc::new(instance))
    }

    pub(crate) fn new(request: &Request, object: &Object, seed: u64) -> Result<Self, Error> {
        let invalid = |problem: String| Error::Invalid {
            file: request.name.clone(),
            problem,
        };
        let contents = object.contents().map_err(invalid)?;
        let declarations = &contents.declarations;
        let params = choose_params(request, &declarations.params)?;
        let elf = Elf::parse(object.as_ref()).map_err(invalid)?;
        let mapping = Mapping::new(object.as_ref(), elf).map_err(|problem| match problem {
            Unmapped::Missing(problem) => invalid(problem),
            Unmapped::System(problem) => Error::Load {
                file: request.name.clone(),
                problem,
            },
        })?;
        mapping.check_layout().map_err(invalid)?;
        let table = FileName::parse(&request.name).and_then(|file| file.table);
        for param in &declarations.params {
            mapping
                .write_param(param, params[&param.name])
                .map_err(invalid)?;
        }
        let state = mapping
            .variable::<u64>("dumbbell_random_state")
            .map_err(invalid)?;
        // SAFETY: `variable` found a u64 in the writable data of a mapping that nothing
        // else refers to yet.
        unsafe { state.write(seed) };
        let module_ops = mapping.load_module().map_err(invalid)?;
        let ops = match module_ops {
            // SAFETY: `load_module` found a table that starts as `ModuleOps` in the mapped data.
            Some(registered) => unsafe { registered.read() },
            None => ModuleOps::stock(mapping.ops(table).map_err(invalid)?),
        };
        let forget_socket = mapping
            .set_up_maps(declarations.storage_bytes)
            .map_err(invalid)?;
        Ok(Self {
            name: ops::check(&ops.ops).map_err(invalid)?.to_owned(),
            ops: Rc::new(ops),
            module_ops,
            contents,
            params,
            requested: request.name.clone(),
            running: SharedRunning::default(),
            path_pkts: Cell::new(u64::MAX),
            has_default_window: Cell::new(false),
            fault: Rc::default(),
            hosted: None,
            forget_socket,
            now_ns: mapping.variable("dumbbell_now_ns").map_err(invalid)?,
            library: Some(mapping.library),
            _file: Some(mapping.file),
            _clock: None,
        })
    }

    /// Hosts a congestion control algorithm that is not written in C; `requested` is the user's name for it.
    pub fn host(requested: &str, hosted: Hosted) -> Result<Rc<Self>, Error> {
        let invalid = |problem: String| Error::Invalid {
            file: requested.to_owned(),
            problem,
        };
        let ops = hosted.ops();
        let clock = Rc::new(Cell::new(0));
        let instance = Self {
            name: ops::check(&ops).map_err(invalid)?.to_owned(),
            module_ops: None,
            ops: Rc::new(ModuleOps::stock(ops)),
            params: hosted.params.clone(),
            contents: Arc::new(Contents {
                build: hosted.build.clone(),
                declarations: hosted.declarations(),
            }),
            requested: requested.to_owned(),
            running: SharedRunning::default(),
            path_pkts: Cell::new(u64::MAX),
            has_default_window: Cell::new(false),
            fault: Rc::default(),
            hosted: Some(hosted),
            forget_socket: None,
            now_ns: NonNull::new(clock.as_ptr()).expect("a cell has an address"),
            library: None,
            _file: None,
            _clock: Some(clock),
        };
        crash::watch(&instance.running);
        Ok(Rc::new(instance))
    }

    /// The congestion control algorithm's name in the kernel's table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A hexadecimal digest of the shared object and of the headers it was built with.
    pub fn build(&self) -> &str {
        &self.contents.build
    }

    /// The parameters in force, by name.
    pub fn params(&self) -> BTreeMap<String, i64> {
        self.params.clone()
    }

    /// The time series that its flows deliver, in the order of [`Flow::read_series`].
    pub fn series(&self) -> &[Series] {
        &self.declarations().series
    }

    /// A reader of each series; empty if only the flow can read them.
    pub(crate) fn readers(&self) -> &[Reader] {
        &self.declarations().readers
    }

    /// Linux's flags of it (`TCP_CONG_*`).
    pub fn flags(&self) -> u32 {
        self.ops.ops.flags
    }

    /// Whether it needs ECN on its connections, regardless of the host's setting
    /// (`TCP_CONG_NEEDS_ECN`).
    pub fn needs_ecn(&self) -> bool {
        self.ops.ops.flags & TCP_CONG_NEEDS_ECN != 0
    }

    /// Whether it needs Accurate ECN (`TCP_CONG_NEEDS_ACCECN`).
    pub fn needs_accecn(&self) -> bool {
        self.ops.ops.flags & TCP_CONG_NEEDS_ACCECN != 0
    }

    /// Whether its packets are ECT(1) (`TCP_CONG_ECT_1_NEGOTIATION`).
    pub fn sends_ect1(&self) -> bool {
        self.ops.ops.flags & TCP_CONG_ECT_1_NEGOTIATION != 0
    }

    /// What it declares about itself.
    pub fn declared(&self) -> Declared {
        Declared {
            kind: self.kind(),
            params: self.declarations().params.clone(),
            series: self.declarations().series.clone(),
            ops: self.ops.present().collect(),
            notes: self.declarations().notes.clone(),
        }
    }

    fn kind(&self) -> Kind {
        let file = FileName::parse(&self.requested);
        match file {
            _ if self.hosted.is_some() => Kind::Python,
            None => Kind::BuiltIn,
            Some(_) if self.module_ops.is_some() => Kind::Module,
            Some(_) => Kind::Bpf,
        }
    }

    /// The first fault of any flow, after which the run cannot continue.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.get()
    }

    /// Sets what the path of flows that are made from now on holds with its buffers, packets: far more
    /// in flight is a fault.
    pub fn set_path_pkts(&self, path_pkts: u64) {
        self.path_pkts.set(path_pkts);
    }

    /// Sets that the receive window of these flows is not the scenario's: then a cwnd beyond any window is a fault too,
    /// as the window may end what would be in flight.
    pub fn set_default_window(&self) {
        self.has_default_window.set(true);
    }

    /// Whether [`Self::set_default_window`] was called.
    pub(crate) fn has_default_window(&self) -> bool {
        self.has_default_window.get()
    }

    /// What [`Self::set_path_pkts`] set, packets; `u64::MAX`: not set.
    pub(crate) fn path_pkts(&self) -> u64 {
        self.path_pkts.get()
    }

    /// A new socket that runs this instance; [`Flow::init`] starts it.
    pub fn new_flow(self: &Rc<Self>) -> Flow {
        Flow::new(Rc::clone(self))
    }

    /// A new flow's own congestion control algorithm, if it is not written in C.
    pub(crate) fn new_hosted_flow(&self) -> Option<HostedPointer> {
        let hosted = self.hosted.as_ref()?;
        Some(HostedPointer::new(
            hosted.make(),
            &self.requested,
            &self.fault,
            &self.running,
        ))
    }

    pub(crate) fn declarations(&self) -> &Declarations {
        &self.contents.declarations
    }

    pub(crate) fn requested(&self) -> &str {
        &self.requested
    }

    pub(crate) fn note_fault(&self, fault: Fault) {
        // Only the first is reported; later ones are often its consequences.
        let _ = self.fault.set(fault);
    }

    #[inline]
    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    #[inline]
    pub(crate) fn ops(&self) -> &Rc<ModuleOps> {
        &self.ops
    }

    /// Whether it is a user's BPF source, which the kernel's verifier should accept later.
    pub(crate) fn is_bpf_source(&self) -> bool {
        self.kind() == Kind::Bpf
    }

    /// Address of the table that a kernel module registered; zero for others.
    pub(crate) fn module_ops(&self) -> usize {
        self.module_ops.map_or(0, |table| table.addr().get())
    }

    /// The table that a kernel module put in place of the one it registered, if it did: `address`
    /// is what its socket's `icsk_ca_ops` says. An error completes a sentence that begins with the
    /// module's name.
    pub(crate) fn exchanged_ops(&self, address: usize) -> Option<Result<ModuleOps, String>> {
        let registered = self.module_ops?;
        if address == registered.addr().get() {
            return None;
        }
        let table = NonZero::new(address).map(|address| registered.with_addr(address));
        let can_be = |table: &NonNull<ModuleOps>| {
            table.is_aligned() && are_in_one_object(registered, *table)
        };
        let Some(table) = table.filter(can_be) else {
            return Some(Err(format!(
                "set icsk_ca_ops to {address:#x}, which is not the address of a table"
            )));
        };
        // SAFETY: all of it lies in the object that the registered one is in, mapped as long as
        // `self`; that it is a table there we trust as a kernel trusts a module.
        let ops = unsafe { table.read() };
        Some(match ops::missing(&ops.ops) {
            None => Ok(ops),
            Some(op) => Err(format!("set icsk_ca_ops to a table without `{op}`")),
        })
    }

    /// Removes a closed socket's entries from the maps.
    pub(crate) fn forget_socket(&self, cookie: u64) {
        if let Some(forget_socket) = self.forget_socket {
            // SAFETY: a function of the object, which is mapped as long as `self`; it takes a
            // number only and touches nothing but the instance's own maps.
            unsafe { forget_socket(cookie) };
        }
    }

    #[inline]
    pub(crate) fn set_clock(&self, now_ns: u64) {
        // SAFETY: the clock is a u64 of this instance's writable data, mapped as long as
        // `self`. Only the C reads it, during calls; `Instance` stays on one thread.
        unsafe { self.now_ns.write(now_ns) };
    }
}
