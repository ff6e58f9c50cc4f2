//! Loading: one private copy of a congestion control's shared object.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::ffi::c_void;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::ptr::NonNull;
use std::rc::Rc;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustix::fs::MemfdFlags;
use rustix::mm::MprotectFlags;

use crate::catalog::{self, Target};
use crate::declarations::{self, Declarations, Param, Series};
use crate::digest::digest;
use crate::elf::{Elf, Symbol};
use crate::error::Error;
use crate::flow::Flow;
use crate::ops::{Ops, TCP_CONG_NEEDS_ECN};
use crate::request::{Request, choose_params};
use crate::sock;

/// A loaded congestion control with its parameters set: a private mapping of the
/// shared object that no other instance sees. It lives as long as any of its flows.
#[derive(Debug)]
pub struct Instance {
    ops: Ops,
    name: String,
    build: String,
    params: BTreeMap<String, i64>,
    declarations: Declarations,
    /// The instance's clock, `dumbbell_now_ns`.
    now_ns: NonNull<u64>,
    // The mapping goes before the file: a loaded library is known by its path, and the
    // descriptor's number must not name another file while this one is mapped.
    _library: Library,
    _file: File,
}

impl Instance {
    /// Loads a private copy of a congestion control, sets its parameters, and seeds its
    /// random generator.
    pub fn load(request: &Request, seed: u64) -> Result<Rc<Self>, Error> {
        let build = catalog::find(&request.name, Target::Native)?;
        Ok(Rc::new(Self::new(request, build.object.as_ref(), seed)?))
    }

    pub(crate) fn new(request: &Request, object: &[u8], seed: u64) -> Result<Self, Error> {
        let invalid = |problem: String| Error::Invalid {
            file: request.name.clone(),
            problem,
        };
        let elf = Elf::parse(object).map_err(invalid)?;
        let declarations = declarations::read(&elf).map_err(invalid)?;
        let params = choose_params(request, &declarations.params)?;
        let mapping = Mapping::new(object, elf).map_err(|problem| Error::Load {
            file: request.name.clone(),
            problem,
        })?;
        mapping.check_layout().map_err(invalid)?;
        let ops = mapping.ops().map_err(invalid)?;
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
        Ok(Self {
            name: ops.check().map_err(invalid)?.to_owned(),
            ops,
            build: digest(object),
            params,
            declarations,
            now_ns: mapping.variable("dumbbell_now_ns").map_err(invalid)?,
            _library: mapping.library,
            _file: mapping.file,
        })
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

    /// Whether it wants ECN on its connections, whatever the host's setting (`TCP_CONG_NEEDS_ECN`).
    pub fn needs_ecn(&self) -> bool {
        self.ops.flags & TCP_CONG_NEEDS_ECN != 0
    }

    /// A new socket that runs this instance; [`Flow::init`] starts it.
    pub fn new_flow(self: &Rc<Self>) -> Flow {
        Flow::new(Rc::clone(self))
    }

    pub(crate) fn declarations(&self) -> &Declarations {
        &self.declarations
    }

    #[inline]
    pub(crate) fn ops(&self) -> &Ops {
        &self.ops
    }

    #[inline]
    pub(crate) fn set_clock(&self, now_ns: u64) {
        // SAFETY: the clock is a u64 of this instance's writable data, mapped as long as
        // `self`. Only the C reads it, during calls; `Instance` stays on one thread.
        unsafe { self.now_ns.write(now_ns) };
    }
}

/// What the dynamic linker says.
fn linker_message(error: &libloading::Error) -> String {
    error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string)
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
    fn new(object: &[u8], elf: Elf<'data>) -> Result<Self, String> {
        let fd = rustix::fs::memfd_create("dumbbell-cc", MemfdFlags::CLOEXEC)
            .map_err(|error| format!("memfd_create: {error}"))?;
        let mut file = File::from(fd);
        file.write_all(object)
            .map_err(|error| format!("memfd: {error}"))?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: the object is ours or the user's, whom we trust as a kernel trusts a
        // module; built with -nostdlib it has no initialisers to run.
        let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| linker_message(&error).replace(&path, "the object"))?;
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
        let layout = self
            .variable("dumbbell_layout")
            .map(|array: NonNull<[u32; 22]>| {
                // SAFETY: `variable` found as many u32 in the mapped data.
                unsafe { array.read() }
            });
        if layout != Ok(expected) {
            return Err("was built against another layout of `struct tcp_sock`".to_owned());
        }
        Ok(())
    }

    /// A copy of the one ops table.
    fn ops(&self) -> Result<Ops, String> {
        let table = self.variable::<Ops>(self.elf.ops_table()?)?;
        // SAFETY: the variable has the table's size, and lies in the section that says
        // it is one; its function pointers have been relocated by the dynamic linker.
        Ok(unsafe { table.read() })
    }

    /// Sets a parameter: a constant for the C, so its pages are made writable meanwhile.
    fn write_param(&self, param: &Param, value: i64) -> Result<(), String> {
        let (address, facts) = self.symbol(&param.name)?;
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
