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
        Ok(rules.map(Rules))
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
pub(crate) struct Rules(OwnedFd);

impl Rules {
    /// Binds the calling thread and all that it starts; it must have `no_new_privs`. Only makes a
    /// system call.
    pub(crate) fn apply(&self) -> io::Result<()> {
        // SAFETY: a descriptor and a number; the kernel reads no memory of ours.
        let result =
            unsafe { libc::syscall(libc::SYS_landlock_restrict_self, self.0.as_raw_fd(), 0) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

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
