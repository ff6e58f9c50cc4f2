//! Landlock: which files a process can open. Processes outside can neither be signalled nor, by
//! abstract sockets, be reached.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, Scope, path_beneath_rules,
};

/// What is asked of the kernel; an older one gives what it has, and `pieces` says what is missing.
const ABI: ABI = ABI::V7;

/// Libraries of the system, and the dynamic linker's list of them.
const LIBRARIES: [&str; 7] = [
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
];
const LINKER_CACHE: &str = "/etc/ld.so.cache";
/// Where some distributions have everything, readable by everyone.
const STORES: [&str; 2] = ["/nix/store", "/gnu/store"];
/// Harmless in both directions.
const NULL: &str = "/dev/null";

/// The files that a process can open: these and no others. A directory stands for all below it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    pub(crate) read: Vec<PathBuf>,
    pub(crate) execute: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    /// Whether it can read what `/proc` has about itself.
    pub(crate) own_proc: bool,
}

impl Files {
    /// The system's libraries.
    pub(crate) fn libraries() -> Self {
        let read = LIBRARIES.iter().chain(&STORES).chain([&LINKER_CACHE]);
        Self {
            read: read.map(PathBuf::from).collect(),
            ..Self::default()
        }
    }

    /// Lets files be read, too.
    pub(crate) fn and_read(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.read.extend(paths);
        self
    }

    /// Lets files be written, created and removed, too.
    pub(crate) fn and_write(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.write.extend(paths);
        self
    }

    /// Makes the rules; `None` if the kernel has no Landlock. Paths that do not exist are left out.
    pub(crate) fn rules(&self) -> io::Result<Option<Rules>> {
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let make = || {
            Ruleset::default()
                .handle_access(AccessFs::from_all(ABI))?
                .handle_access(AccessNet::from_all(ABI))?
                .scope(Scope::from_all(ABI))?
                .create()?
                .add_rules(beneath(&self.read, read))?
                .add_rules(beneath(&self.execute, AccessFs::from_read(ABI)))?
                .add_rules(beneath(&self.write, writable()))?
                .add_rules(beneath(&[NULL], AccessFs::ReadFile | AccessFs::WriteFile))
        };
        let rules: Option<OwnedFd> = make().map_err(io::Error::other)?.into();
        let own_proc = self.own_proc;
        Ok(rules.map(|rules| Rules { rules, own_proc }))
    }
}

/// Files and directories, but no devices, sockets or pipes.
fn writable() -> BitFlags<AccessFs> {
    let special = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock;
    let special = special | AccessFs::MakeFifo | AccessFs::IoctlDev | AccessFs::Execute;
    AccessFs::from_all(ABI) & !special
}

fn beneath<P: AsRef<Path>>(
    paths: &[P],
    access: impl Into<BitFlags<AccessFs>>,
) -> impl Iterator<Item = Result<landlock::PathBeneath<landlock::PathFd>, landlock::RulesetError>> {
    path_beneath_rules(paths, access)
}

/// Rules that a process can be bound by.
#[derive(Debug)]
pub(crate) struct Rules {
    rules: OwnedFd,
    own_proc: bool,
}

/// The kernel's `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct PathBeneathAttribute {
    allowed_access: u64,
    parent: i32,
}

impl Rules {
    /// Binds the calling thread and all that it starts; it must have `no_new_privs`. Only makes
    /// system calls.
    pub(crate) fn apply(&self) -> io::Result<()> {
        if self.own_proc {
            self.allow_own_proc()?;
        }
        // SAFETY: a descriptor and a number; the kernel reads no memory of ours.
        let result =
            unsafe { libc::syscall(libc::SYS_landlock_restrict_self, self.rules.as_raw_fd(), 0) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Only the process itself knows which directory that is.
    fn allow_own_proc(&self) -> io::Result<()> {
        const PATH_BENEATH: libc::c_uint = 1;
        // SAFETY: the path ends in a null; the kernel reads an attribute of that layout; the
        // descriptor is this function's own.
        let result = unsafe {
            let parent = libc::open(c"/proc/self".as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
            let attribute = PathBeneathAttribute {
                allowed_access: (AccessFs::ReadFile | AccessFs::ReadDir).bits(),
                parent,
            };
            let rules = self.rules.as_raw_fd();
            let result = libc::syscall(
                libc::SYS_landlock_add_rule,
                rules,
                PATH_BENEATH,
                &raw const attribute,
                0,
            );
            libc::close(parent);
            result
        };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

/// The first version of Landlock that confines signals.
pub(crate) const FIRST_WITH_SIGNALS: u32 = 6;

/// The kernel's version of Landlock; 0 if it has none.
pub(crate) fn landlock_version() -> u32 {
    const VERSION: libc::c_ulong = 1;
    // SAFETY: with this flag the kernel reads no memory, and wants a null pointer.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    u32::try_from(version).unwrap_or(0)
}
