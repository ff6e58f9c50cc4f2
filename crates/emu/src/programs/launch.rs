//! What it takes to start a program: laid out in a file in memory before, so that the processes that start it need not
//! allocate.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{self, Write as _};
use std::mem;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;

use libc::{c_char, c_int};
use rustix::fs::{MemfdFlags, memfd_create};

/// Descriptors that go along: the plan, the host's network namespace, the three standard ones, and the socket for reports.
pub(super) const DESCRIPTORS: usize = 6;

/// What to start.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    /// The executable file.
    pub(super) program: &'a Path,
    /// Words of the command; the first is its name.
    pub(super) command: &'a [String],
    /// Variables, each as `NAME=value`.
    pub(super) environment: Vec<CString>,
    pub(super) directory: &'a Path,
    /// `/etc/hosts`, and `/etc/resolv.conf`.
    pub(super) hosts: &'a [u8],
    pub(super) resolver: &'a [u8],
    /// Whether what it leaves in the background goes on when it has ended.
    pub(super) lingers: bool,
    /// Whether it has a session of its own, which a terminal's signals do not reach.
    pub(super) new_session: bool,
}

/// The head of the file in memory. Addresses are offsets until [`Plan::map`].
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Plan {
    flags: u64,
    program: u64,
    directory: u64,
    /// Arrays of addresses, which end in 0.
    arguments: u64,
    environment: u64,
    hosts: u64,
    hosts_bytes: u64,
    resolver: u64,
    resolver_bytes: u64,
}

const LINGERS: u64 = 1;
const NEW_SESSION: u64 = 2;
const HEAD_BYTES: usize = size_of::<Plan>();
const WORD_BYTES: usize = size_of::<u64>();

impl Launch<'_> {
    /// The file in memory.
    pub(super) fn plan(&self) -> io::Result<OwnedFd> {
        let mut layout = Layout::default();
        let arguments: Vec<CString> = (self.command.iter())
            .map(|word| c_string(OsStr::new(word)))
            .collect::<io::Result<_>>()?;
        let (program, directory) = (
            c_string(self.program.as_os_str())?,
            c_string(self.directory.as_os_str())?,
        );
        // Arrays first, which are aligned.
        let first = layout.room_for_array(arguments.len());
        let second = layout.room_for_array(self.environment.len());
        let plan = Plan {
            flags: u64::from(self.lingers) * LINGERS + u64::from(self.new_session) * NEW_SESSION,
            program: layout.text(&program),
            directory: layout.text(&directory),
            arguments: layout.array(first, &arguments),
            environment: layout.array(second, &self.environment),
            hosts: layout.bytes(self.hosts),
            hosts_bytes: self.hosts.len() as u64,
            resolver: layout.bytes(self.resolver),
            resolver_bytes: self.resolver.len() as u64,
        };
        let descriptor = memfd_create("dumbbell-program", MemfdFlags::CLOEXEC)?;
        let mut file = File::from(descriptor);
        for word in plan.words() {
            file.write_all(&word.to_ne_bytes())?;
        }
        file.write_all(&layout.bytes)?;
        Ok(file.into())
    }
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidInput, "a word has a zero byte");
    CString::new(text.as_bytes()).map_err(invalid)
}

/// What follows the head.
#[derive(Default)]
struct Layout {
    bytes: Vec<u8>,
}

impl Layout {
    /// Address of what comes next.
    fn next(&self) -> u64 {
        (HEAD_BYTES + self.bytes.len()) as u64
    }

    fn bytes(&mut self, bytes: &[u8]) -> u64 {
        let address = self.next();
        self.bytes.extend(bytes);
        address
    }

    fn text(&mut self, text: &CStr) -> u64 {
        self.bytes(text.to_bytes_with_nul())
    }

    /// Address of an array of `count` addresses and the 0 that ends it.
    fn room_for_array(&mut self, count: usize) -> u64 {
        let room = vec![0; (count + 1) * WORD_BYTES];
        self.bytes(&room)
    }

    /// Fills an array with addresses of texts.
    fn array(&mut self, address: u64, texts: &[CString]) -> u64 {
        for (index, text) in texts.iter().enumerate() {
            let at = address as usize - HEAD_BYTES + index * WORD_BYTES;
            let of_text = self.text(text);
            self.bytes[at..at + WORD_BYTES].copy_from_slice(&of_text.to_ne_bytes());
        }
        address
    }
}

impl Plan {
    fn words(self) -> [u64; HEAD_BYTES / WORD_BYTES] {
        [
            self.flags,
            self.program,
            self.directory,
            self.arguments,
            self.environment,
            self.hosts,
            self.hosts_bytes,
            self.resolver,
            self.resolver_bytes,
        ]
    }

    /// Maps a file that [`Launch::plan`] made, in a process that may not allocate; it stays mapped.
    pub(super) fn map(descriptor: RawFd) -> Result<&'static Self, c_int> {
        // SAFETY: the file was made by this program and no other can write it: its head is a `Plan`, whose addresses
        // and those of its arrays lie in the file. The mapping is private, writable, page-aligned and never undone.
        unsafe {
            let mut status: libc::stat = mem::zeroed();
            if libc::fstat(descriptor, &raw mut status) < 0 {
                return Err(*libc::__errno_location());
            }
            let mapped = libc::mmap(
                ptr::null_mut(),
                status.st_size as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE,
                descriptor,
                0,
            );
            if mapped == libc::MAP_FAILED {
                return Err(*libc::__errno_location());
            }
            let plan: &'static mut Self = &mut *mapped.cast();
            let start = mapped as u64;
            for array in [plan.arguments, plan.environment] {
                let mut place = (start + array) as *mut u64;
                while *place != 0 {
                    *place += start;
                    place = place.add(1);
                }
            }
            for address in [
                &mut plan.program,
                &mut plan.directory,
                &mut plan.arguments,
                &mut plan.environment,
                &mut plan.hosts,
                &mut plan.resolver,
            ] {
                *address += start;
            }
            Ok(plan)
        }
    }

    pub(super) fn lingers(&self) -> bool {
        self.flags & LINGERS != 0
    }

    pub(super) fn has_new_session(&self) -> bool {
        self.flags & NEW_SESSION != 0
    }

    pub(super) fn program(&self) -> *const c_char {
        self.program as *const c_char
    }

    pub(super) fn directory(&self) -> *const c_char {
        self.directory as *const c_char
    }

    pub(super) fn arguments(&self) -> *const *const c_char {
        self.arguments as *const *const c_char
    }

    pub(super) fn environment(&self) -> *const *const c_char {
        self.environment as *const *const c_char
    }

    pub(super) fn hosts(&self) -> &[u8] {
        // SAFETY: of a mapped plan, whose bytes do not change.
        unsafe { std::slice::from_raw_parts(self.hosts as *const u8, self.hosts_bytes as usize) }
    }

    pub(super) fn resolver(&self) -> &[u8] {
        let bytes = self.resolver_bytes as usize;
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.resolver as *const u8, bytes) }
    }
}

/// The descriptors of a launch, as the process has them that starts it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launched {
    pub(super) plan: RawFd,
    pub(super) network: RawFd,
    pub(super) standard: [RawFd; 3],
    pub(super) reports: RawFd,
}

impl Launched {
    /// In the order in which they are sent.
    pub(super) fn new(descriptors: [RawFd; DESCRIPTORS]) -> Self {
        let [plan, network, input, output, errors, reports] = descriptors;
        Self {
            plan,
            network,
            standard: [input, output, errors],
            reports,
        }
    }

    /// All but that for reports.
    pub(super) fn others(&self) -> [RawFd; DESCRIPTORS - 1] {
        let [input, output, errors] = self.standard;
        [self.plan, self.network, input, output, errors]
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn a_plan_is_mapped_as_it_was_laid_out() {
        let command = ["curl".to_owned(), String::new(), "a b".to_owned()];
        let launch = Launch {
            program: Path::new("/usr/bin/curl"),
            command: &command,
            environment: vec![c"HOME=/root".to_owned()],
            directory: Path::new("/tmp"),
            hosts: b"10.0.0.1 server\n",
            resolver: b"",
            lingers: true,
            new_session: false,
        };
        let file = launch.plan().expect("there is memory");
        let plan = Plan::map(file.as_raw_fd()).expect("it is mapped");
        let text = |address: *const c_char| {
            // SAFETY: a text of the plan, which stays mapped.
            unsafe { CStr::from_ptr(address) }
        };
        // SAFETY: arrays of the plan, of three addresses, one, and the end of each.
        let (arguments, environment) = unsafe {
            (
                std::slice::from_raw_parts(plan.arguments(), 4),
                std::slice::from_raw_parts(plan.environment(), 2),
            )
        };
        assert_eq!(text(plan.program()), c"/usr/bin/curl");
        assert_eq!(text(plan.directory()), c"/tmp");
        assert_eq!(text(arguments[0]), c"curl");
        assert_eq!(text(arguments[1]), c"");
        assert_eq!(text(arguments[2]), c"a b");
        assert!(arguments[3].is_null() && environment[1].is_null());
        assert_eq!(text(environment[0]), c"HOME=/root");
        assert_eq!(plan.hosts(), b"10.0.0.1 server\n");
        assert_eq!(plan.resolver(), b"");
        assert!(plan.lingers() && !plan.has_new_session());
    }
}
