//! A shared object in memory: one private copy, before any of its code runs.

use std::error::Error as _;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::io::Write as _;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd as _;
use std::ptr::NonNull;
use std::slice;

use dumbbell_cc_abi::{LAYOUT, LAYOUT_WORDS, ModuleOps, Ops};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustix::fs::MemfdFlags;
use rustix::mm::MprotectFlags;

use crate::build::kernel_module;
use crate::host::kernel_functions::{missing_functions, missing_symbols};
use crate::object::declarations::Param;
use crate::object::elf::{Elf, Symbol};
use crate::object::ops;
use crate::object::ops_choice;

/// `dumbbell_forget_socket` of `cc/include/maps.c`.
pub(crate) type ForgetSocket = unsafe extern "C" fn(u64);

/// Where a kernel module's table is put; other objects do not have it.
pub(crate) const REGISTERED: &str = "dumbbell_registered";

/// The dynamic linker's message.
fn linker_message(error: &libloading::Error) -> String {
    error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

/// Whether two variables lie in the same mapped object, to their last bytes.
pub(crate) fn are_in_one_object<T>(one: NonNull<T>, other: NonNull<T>) -> bool {
    let ends = |variable: NonNull<T>| {
        let start = variable.as_ptr().cast::<c_void>().cast_const();
        [start, start.wrapping_byte_add(size_of::<T>() - 1)].map(object_at)
    };
    let objects = [ends(one), ends(other)].concat();
    objects[0].is_some() && objects.iter().all(|object| *object == objects[0])
}

/// Start of the object that is mapped at an address.
fn object_at(address: *const c_void) -> Option<usize> {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr() only compares the address with those of mapped objects, and fills `found`,
    // which is valid in zeros too, if it lies in one.
    let (is_found, found) = unsafe {
        (
            libc::dladdr(address, found.as_mut_ptr()),
            found.assume_init(),
        )
    };
    (is_found != 0).then(|| found.dli_fbase.addr())
}

/// Why an object is not mapped.
pub(crate) enum Unmapped {
    /// It needs symbols that do not exist.
    Missing(String),
    /// The system's error.
    System(String),
}

/// A mapped object on its way to becoming an [`Instance`].
pub(crate) struct Mapping<'data> {
    elf: Elf<'data>,
    pub(crate) library: Library,
    pub(crate) file: File,
}

impl<'data> Mapping<'data> {
    /// Maps a copy of the object. The dynamic linker shares files that it has already
    /// loaded, so every copy is a new anonymous file.
    pub(crate) fn new(object: &[u8], elf: Elf<'data>) -> Result<Self, Unmapped> {
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
        // C would read an undefined weak one at address 0.
        let is_setting = |name: &&str| name.starts_with("CONFIG_");
        if elf.undefined().iter().any(is_setting)
            && let Some(missing) = missing_functions(&elf)
        {
            return Err(Unmapped::Missing(missing));
        }
        Ok(Self { elf, library, file })
    }

    /// Address and description of an exported variable.
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

    /// A variable of exactly the type's size.
    pub(crate) fn variable<T>(&self, name: &str) -> Result<NonNull<T>, String> {
        let (address, facts) = self.symbol(name)?;
        let address = address.cast::<T>();
        if facts.size != size_of::<T>() as u64 || !address.is_aligned() {
            return Err(format!("has a variable `{name}` of another type"));
        }
        Ok(address)
    }

    /// Both sides must agree on every offset of `struct tcp_sock`.
    pub(crate) fn check_layout(&self) -> Result<(), String> {
        let expected = LAYOUT;
        let layout = self
            .variable("dumbbell_layout")
            .map(|array: NonNull<[u32; LAYOUT_WORDS]>| {
                // SAFETY: `variable` found as many u32 in the mapped data.
                unsafe { array.read() }
            });
        if layout != Ok(expected) {
            return Err("was built against another layout of `struct tcp_sock`".to_owned());
        }
        Ok(())
    }

    /// A copy of the chosen ops table.
    pub(crate) fn ops(&self, wanted: Option<&str>) -> Result<Ops, String> {
        let read = |name: &str| {
            let table = self.variable::<Ops>(name)?;
            // SAFETY: the variable has the table's size, and lies in the section that says
            // it is one; its function pointers have been relocated by the dynamic linker.
            Ok::<Ops, String>(unsafe { table.read() })
        };
        let check = |name: &str| ops::check(&read(name)?).map(|_| ());
        read(ops_choice::choose(&self.elf, wanted, check)?)
    }

    /// Sets in `cc/include/maps.c` how large a flow's storage is; returns the function that forgets a
    /// socket.
    pub(crate) fn set_up_maps(&self, storage_bytes: usize) -> Result<Option<ForgetSocket>, String> {
        const FORGET: &str = "dumbbell_forget_socket";
        if self.elf.size(FORGET).is_none() {
            return Ok(None);
        }
        let bytes = self.variable::<u64>("dumbbell_storage_bytes")?;
        // SAFETY: a u64 of the mapping's writable data, which nothing else refers to yet.
        unsafe { bytes.write(storage_bytes as u64) };
        // SAFETY: the name is reserved for the function of that type in maps.c, which is linked
        // with every congestion control algorithm.
        let forget = unsafe { self.library.get::<ForgetSocket>(FORGET) };
        let forget = forget.map_err(|_| format!("has no function `{FORGET}`"))?;
        Ok(Some(*forget))
    }

    /// Runs a kernel module's `module_init`, which registers its table; `None` if the object is not
    /// a kernel module.
    pub(crate) fn load_module(&self) -> Result<Option<NonNull<ModuleOps>>, String> {
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
        let registered = self.variable::<*mut ModuleOps>(REGISTERED)?;
        // SAFETY: `variable` found a pointer there; nothing else refers to the mapping.
        let table = unsafe { registered.read() };
        NonNull::new(table).map(Some).ok_or_else(|| {
            "registers no congestion control; call tcp_register_congestion_control() in module_init"
                .to_owned()
        })
    }

    /// A module's parameters can have a callback that rejects values.
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

    /// Sets a parameter, which is a constant for the C: makes its pages writable meanwhile, unless it has the value.
    pub(crate) fn write_param(&self, param: &Param, value: i64) -> Result<(), String> {
        let (address, facts) = self.symbol(&param.variable)?;
        let bytes = value.to_ne_bytes();
        let low = if cfg!(target_endian = "little") {
            0
        } else {
            bytes.len() - param.size as usize
        };
        let bytes = &bytes[low..low + param.size as usize];
        // SAFETY: `read_declarations` checked that the variable has `size` bytes, at most 8; none
        // of the mapping's code runs yet, so nothing writes them.
        let present =
            unsafe { slice::from_raw_parts(address.cast::<u8>().as_ptr(), param.size as usize) };
        if present == bytes {
            return Ok(());
        }
        let page_bytes = rustix::param::page_size();
        let start = address
            .as_ptr()
            .map_addr(|address| address & !(page_bytes - 1));
        let length = address.addr().get() + param.size as usize - start.addr();
        let protect = |protection| {
            // SAFETY: the pages belong to this mapping, none of whose code runs yet.
            unsafe { rustix::mm::mprotect(start, length, protection) }.map_err(|error| {
                format!(
                    "does not let its parameter `{}` be set: {error}",
                    param.name
                )
            })
        };
        protect(MprotectFlags::READ | MprotectFlags::WRITE)?;
        // SAFETY: `read_declarations` checked that the variable has `size` bytes, at most
        // 8; they are writable now, and no Rust reference to them exists.
        unsafe {
            address
                .cast::<u8>()
                .copy_from_nonoverlapping(NonNull::from(bytes).cast(), param.size as usize);
        }
        protect(facts.protection)
    }
}
