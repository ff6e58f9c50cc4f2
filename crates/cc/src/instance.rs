//! Loading: one private copy of a congestion control's shared object.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::error::Error as _;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::io::Write as _;
use std::num::NonZero;
use std::os::fd::AsRawFd as _;
use std::ptr::NonNull;
use std::rc::Rc;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustix::fs::MemfdFlags;
use rustix::mm::MprotectFlags;

use crate::catalog::{self, Target};
use crate::crash;
use crate::declarations::{self, Declarations, Param, Reader, Series};
use crate::digest::digest;
use crate::elf::{Elf, Symbol};
use crate::error::Error;
use crate::fault::Fault;
use crate::file_name::FileName;
use crate::flow::Flow;
use crate::hosted::{Hosted, HostedPointer};
use crate::kernel_functions::{missing_functions, missing_symbols};
use crate::ops::{Ops, TCP_CONG_NEEDS_ECN};
use crate::ops_choice;
use crate::request::{Request, choose_params};
use crate::running::{Running, SharedRunning};
use crate::{kernel_module, sock};

/// `dumbbell_forget_socket` of `cc/include/maps.c`.
type ForgetSocket = unsafe extern "C" fn(u64);

/// A loaded congestion control with its parameters set: a private mapping of the
/// shared object that no other instance sees. It lives as long as any of its flows.
#[derive(Debug)]
pub struct Instance {
    ops: Ops,
    /// Name of its variable; empty if it is no C.
    ops_table: String,
    name: String,
    build: String,
    params: BTreeMap<String, i64>,
    declarations: Declarations,
    /// The table that a kernel module registered, in its own data.
    module_ops: Option<NonNull<Ops>>,
    /// What was asked for: a name or a file.
    requested: String,
    running: SharedRunning,
    /// The first one; shared with flows that are hosted.
    fault: Rc<OnceCell<Fault>>,
    /// What makes its flows, if it is no C.
    hosted: Option<Hosted>,
    /// Takes a closed socket's state out of the maps; `None` if the object has none.
    forget_socket: Option<ForgetSocket>,
    /// The instance's clock, `dumbbell_now_ns`.
    now_ns: NonNull<u64>,
    // The mapping goes before the file: a loaded library is known by its path, and the
    // descriptor's number must not name another file while this one is mapped.
    _library: Option<Library>,
    _file: Option<File>,
    /// The clock of one that is no C, counted because `now_ns` points into it: moving a box would
    /// end what may be done through that.
    _clock: Option<Rc<Cell<u64>>>,
}

impl Instance {
    /// Loads a private copy of a congestion control, sets its parameters, and seeds its
    /// random generator.
    pub fn load(request: &Request, seed: u64) -> Result<Rc<Self>, Error> {
        let build = catalog::find(&request.name, Target::Native)?;
        let instance = Self::new(request, build.object.as_ref(), seed)?;
        crash::watch(&instance.running);
        Ok(Rc::new(instance))
    }

    pub(crate) fn new(request: &Request, object: &[u8], seed: u64) -> Result<Self, Error> {
        let invalid = |problem: String| Error::Invalid {
            file: request.name.clone(),
            problem,
        };
        let elf = Elf::parse(object).map_err(invalid)?;
        let declarations = declarations::read(&elf).map_err(invalid)?;
        let params = choose_params(request, &declarations.params)?;
        let mapping = Mapping::new(object, elf).map_err(|problem| match problem {
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
        let (ops_table, ops) = match module_ops {
            // SAFETY: `load_module` found a table that starts as `Ops` in the mapped data.
            Some(registered) => ("", unsafe { registered.read() }),
            None => mapping.ops(table).map_err(invalid)?,
        };
        let forget_socket = mapping
            .set_up_maps(declarations.storage_bytes)
            .map_err(invalid)?;
        Ok(Self {
            name: ops.check().map_err(invalid)?.to_owned(),
            ops_table: ops_table.to_owned(),
            ops,
            module_ops,
            build: digest(object),
            params,
            declarations,
            requested: request.name.clone(),
            running: SharedRunning::default(),
            fault: Rc::default(),
            hosted: None,
            forget_socket,
            now_ns: mapping.variable("dumbbell_now_ns").map_err(invalid)?,
            _library: Some(mapping.library),
            _file: Some(mapping.file),
            _clock: None,
        })
    }

    /// Hosts a congestion control that is no C; `requested` is how its user names it.
    pub fn host(requested: &str, hosted: Hosted) -> Result<Rc<Self>, Error> {
        let invalid = |problem: String| Error::Invalid {
            file: requested.to_owned(),
            problem,
        };
        let ops = hosted.ops();
        let clock = Rc::new(Cell::new(0));
        let instance = Self {
            name: ops.check().map_err(invalid)?.to_owned(),
            ops_table: String::new(),
            module_ops: None,
            ops,
            build: hosted.build.clone(),
            params: hosted.params.clone(),
            declarations: hosted.declarations(),
            requested: requested.to_owned(),
            running: SharedRunning::default(),
            fault: Rc::default(),
            hosted: Some(hosted),
            forget_socket: None,
            now_ns: NonNull::new(clock.as_ptr()).expect("a cell has an address"),
            _library: None,
            _file: None,
            _clock: Some(clock),
        };
        crash::watch(&instance.running);
        Ok(Rc::new(instance))
    }

    /// The congestion control's name in the kernel's table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A hexadecimal digest of the shared object and of the headers it was built with.
    pub fn build(&self) -> &str {
        &self.build
    }

    /// The parameters in force, by name.
    pub fn params(&self) -> BTreeMap<String, i64> {
        self.params.clone()
    }

    /// The time series that its flows deliver, in the order of [`Flow::read_series`].
    pub fn series(&self) -> &[Series] {
        &self.declarations.series
    }

    /// How [`Flow::read`] gets at each of the series; none if a flow has only [`Flow::read_series`].
    pub fn readers(&self) -> &[Reader] {
        &self.declarations.readers
    }

    /// Whether it wants ECN on its connections, whatever the host's setting (`TCP_CONG_NEEDS_ECN`).
    pub fn needs_ecn(&self) -> bool {
        self.ops.flags & TCP_CONG_NEEDS_ECN != 0
    }

    /// What no run can go on with, once a flow's call has shown it; the first.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.get()
    }

    /// A new socket that runs this instance; [`Flow::init`] starts it.
    pub fn new_flow(self: &Rc<Self>) -> Flow {
        Flow::new(Rc::clone(self))
    }

    /// A new flow's own congestion control, if it is no C.
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
        &self.declarations
    }

    pub(crate) fn requested(&self) -> &str {
        &self.requested
    }

    pub(crate) fn note_fault(&self, fault: Fault) {
        // One is told; later ones are often its consequences.
        let _ = self.fault.set(fault);
    }

    #[inline]
    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    pub(crate) fn ops_table(&self) -> &str {
        &self.ops_table
    }

    #[inline]
    pub(crate) fn ops(&self) -> &Ops {
        &self.ops
    }

    /// Whether it is a user's BPF source, which the kernel's verifier is to take one day.
    pub(crate) fn is_bpf_source(&self) -> bool {
        let file = FileName::parse(&self.requested);
        file.is_some_and(|file| !file.is_shared_object())
            && self.module_ops.is_none()
            && self.hosted.is_none()
    }

    /// Address of the table that a kernel module registered; zero for others.
    pub(crate) fn module_ops(&self) -> usize {
        self.module_ops.map_or(0, |table| table.addr().get())
    }

    /// The table that a kernel module put in place of the one it registered, if it did: `address`
    /// is what its socket's `icsk_ca_ops` says. An error is what is wrong with it, to be read
    /// after the module's name.
    pub(crate) fn exchanged_ops(&self, address: usize) -> Option<Result<Ops, String>> {
        let registered = self.module_ops?;
        if address == registered.addr().get() {
            return None;
        }
        let table = NonZero::new(address).map(|address| registered.with_addr(address));
        let Some(table) = table.filter(|table| table.is_aligned()) else {
            return Some(Err(format!(
                "set icsk_ca_ops to {address:#x}, where no table can be"
            )));
        };
        // SAFETY: C wrote the address of a table of its own there, in the same mapping; we trust
        // it as a kernel trusts a module.
        let ops = unsafe { table.read() };
        Some(match ops.missing() {
            None => Ok(ops),
            Some(op) => Err(format!("set icsk_ca_ops to a table without `{op}`")),
        })
    }

    /// Takes what maps keep of a socket out of them: it is closed.
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

/// Where a kernel module's table is put; other objects do not have it.
const REGISTERED: &str = "dumbbell_registered";

/// What the dynamic linker says.
fn linker_message(error: &libloading::Error) -> String {
    error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

/// Why an object is not mapped.
enum Unmapped {
    /// It calls what is not there.
    Missing(String),
    /// What the system says.
    System(String),
}

/// A mapped object on its way to becoming an [`Instance`].
struct Mapping<'data> {
    elf: Elf<'data>,
    library: Library,
    file: File,
}

impl<'data> Mapping<'data> {
    /// Maps a copy of the object. The dynamic linker shares files that it has already
    /// loaded, so every copy is a new anonymous file.
    fn new(object: &[u8], elf: Elf<'data>) -> Result<Self, Unmapped> {
        let fd = rustix::fs::memfd_create("dumbbell-cc", MemfdFlags::CLOEXEC)
            .map_err(|error| Unmapped::System(format!("memfd_create: {error}")))?;
        let mut file = File::from(fd);
        file.write_all(object)
            .map_err(|error| Unmapped::System(format!("memfd: {error}")))?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: the object is ours or the user's, whom we trust as a kernel trusts a
        // module; built with -nostdlib it has no initialisers to run.
        let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| {
            let missing = if elf.size(REGISTERED).is_some() {
                let symbols = missing_symbols(&elf);
                (!symbols.is_empty()).then(|| kernel_module::explain_symbols(&symbols))
            } else {
                missing_functions(&elf)
            };
            missing.map_or_else(
                || Unmapped::System(linker_message(&error).replace(&path, "the object")),
                Unmapped::Missing,
            )
        })?;
        // A weak one that is not there lies at address 0, where C would read it.
        let is_setting = |name: &&str| name.starts_with("CONFIG_");
        if elf.undefined().iter().any(is_setting)
            && let Some(missing) = missing_functions(&elf)
        {
            return Err(Unmapped::Missing(missing));
        }
        Ok(Self { elf, library, file })
    }

    /// Address and facts of an exported variable.
    fn symbol(&self, name: &str) -> Result<(NonNull<c_void>, Symbol), String> {
        let missing = || format!("has no variable `{name}`");
        let facts = self.elf.symbol(name).ok_or_else(missing)?;
        // SAFETY: only the address is used here; callers check the size before use.
        let address = unsafe { self.library.get::<*mut c_void>(name) }.map_err(|_| missing())?;
        Ok((
            NonNull::new(address.as_raw_ptr()).ok_or_else(missing)?,
            facts,
        ))
    }

    /// A variable of the type's very size.
    fn variable<T>(&self, name: &str) -> Result<NonNull<T>, String> {
        let (address, facts) = self.symbol(name)?;
        let address = address.cast::<T>();
        if facts.size != size_of::<T>() as u64 || !address.is_aligned() {
            return Err(format!("has a variable `{name}` of another type"));
        }
        Ok(address)
    }

    /// Both sides must agree on every offset of `struct tcp_sock`.
    fn check_layout(&self) -> Result<(), String> {
        let expected = sock::layout();
        let layout =
            self.variable("dumbbell_layout")
                .map(|array: NonNull<[u32; sock::LAYOUT_WORDS]>| {
                    // SAFETY: `variable` found as many u32 in the mapped data.
                    unsafe { array.read() }
                });
        if layout != Ok(expected) {
            return Err("was built against another layout of `struct tcp_sock`".to_owned());
        }
        Ok(())
    }

    /// A copy of the ops table that is meant.
    fn ops(&self, wanted: Option<&str>) -> Result<(&'data str, Ops), String> {
        let read = |name: &str| {
            let table = self.variable::<Ops>(name)?;
            // SAFETY: the variable has the table's size, and lies in the section that says
            // it is one; its function pointers have been relocated by the dynamic linker.
            Ok::<Ops, String>(unsafe { table.read() })
        };
        let check = |name: &str| read(name)?.check().map(|_| ());
        let name = ops_choice::choose(&self.elf, wanted, check)?;
        Ok((name, read(name)?))
    }

    /// Tells `cc/include/maps.c` which storage the flow has; returns how to empty it.
    fn set_up_maps(&self, storage_bytes: usize) -> Result<Option<ForgetSocket>, String> {
        const FORGET: &str = "dumbbell_forget_socket";
        if self.elf.size(FORGET).is_none() {
            return Ok(None);
        }
        let bytes = self.variable::<u64>("dumbbell_storage_bytes")?;
        // SAFETY: a u64 of the mapping's writable data, which nothing else refers to yet.
        unsafe { bytes.write(storage_bytes as u64) };
        // SAFETY: the name is reserved for the function of that type in maps.c, which is linked
        // with every congestion control.
        let forget = unsafe { self.library.get::<ForgetSocket>(FORGET) };
        let forget = forget.map_err(|_| format!("has no function `{FORGET}`"))?;
        Ok(Some(*forget))
    }

    /// Runs a kernel module's `module_init`, which registers its table; `None` if the object is none.
    fn load_module(&self) -> Result<Option<NonNull<Ops>>, String> {
        if self.elf.size(REGISTERED).is_none() {
            return Ok(None);
        }
        // SAFETY: only `module.c` has that name, with this type.
        let load = unsafe {
            self.library
                .get::<unsafe extern "C" fn() -> c_int>("dumbbell_load_module")
        };
        let load = load.map_err(|_| "has no `dumbbell_load_module`".to_owned())?;
        // SAFETY: the module's own code, which we trust as a kernel trusts a module; its
        // parameters are set and its relocations done.
        let error = unsafe { load() };
        self.check_refused_param()?;
        if error != 0 {
            return Err(format!(
                "refuses to start: its module_init returned {error}"
            ));
        }
        let registered = self.variable::<*mut Ops>(REGISTERED)?;
        // SAFETY: `variable` found a pointer there; nothing else refers to the mapping.
        let table = unsafe { registered.read() };
        NonNull::new(table).map(Some).ok_or_else(|| {
            "registers no congestion control; call tcp_register_congestion_control() in module_init"
                .to_owned()
        })
    }

    /// A module's parameters can have a callback that refuses values.
    fn check_refused_param(&self) -> Result<(), String> {
        let name = self.variable::<*const c_char>("dumbbell_refused_param")?;
        // SAFETY: `variable` found a pointer there: null, or the name of a parameter, a string
        // constant of the same mapping.
        let name = unsafe { name.read() };
        if name.is_null() {
            return Ok(());
        }
        // SAFETY: as above.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        Err(format!("refuses the value of its parameter `{name}`"))
    }

    /// Sets a parameter: a constant for the C, so its pages are made writable meanwhile.
    fn write_param(&self, param: &Param, value: i64) -> Result<(), String> {
        let (address, facts) = self.symbol(&param.variable)?;
        let page_bytes = rustix::param::page_size();
        let start = address
            .as_ptr()
            .map_addr(|address| address & !(page_bytes - 1));
        let length = address.addr().get() + param.size as usize - start.addr();
        let protect = |protection| {
            // SAFETY: the pages belong to this mapping, whose code nobody runs yet.
            unsafe { rustix::mm::mprotect(start, length, protection) }.map_err(|error| {
                format!(
                    "does not let its parameter `{}` be set: {error}",
                    param.name
                )
            })
        };
        protect(MprotectFlags::READ | MprotectFlags::WRITE)?;
        let bytes = value.to_ne_bytes();
        let low = if cfg!(target_endian = "little") {
            0
        } else {
            bytes.len() - param.size as usize
        };
        // SAFETY: `declarations::read` checked that the variable has `size` bytes, at most
        // 8; they are writable now, and no Rust reference to them exists.
        unsafe {
            address
                .cast::<u8>()
                .copy_from_nonoverlapping(NonNull::from(&bytes[low]), param.size as usize);
        }
        protect(facts.protection)
    }
}
