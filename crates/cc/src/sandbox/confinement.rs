//! All that is taken from a process.

use std::io;

use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::sandbox::files::Rules;
use crate::sandbox::limits::Limits;
use crate::sandbox::system_calls::Filter;

/// What a process is to be bound by, prepared so that applying it only makes system calls: a
/// process that was forked from one with several threads may not do more.
#[derive(Debug)]
pub(crate) struct Confinement {
    pub(crate) is_off: bool,
    pub(crate) limits: Limits,
    /// `None`: the kernel has no Landlock.
    pub(crate) files: Option<Rules>,
    /// Empty: the kernel has no seccomp.
    pub(crate) system_calls: Vec<Filter>,
}

impl Confinement {
    /// Nothing, as the user wishes.
    pub(crate) fn none() -> Self {
        Self {
            is_off: true,
            limits: Limits::default(),
            files: None,
            system_calls: Vec::new(),
        }
    }

    /// Binds the calling process, which must have one thread.
    pub(crate) fn apply(&self) -> io::Result<()> {
        if self.is_off {
            return Ok(());
        }
        self.limits.apply()?;
        rustix::thread::set_no_new_privs(true)?;
        drop_capabilities(self.files.is_some())?;
        if let Some(files) = &self.files {
            files.apply()?;
        }
        for filter in &self.system_calls {
            filter.apply()?;
        }
        Ok(())
    }
}

/// Takes root's powers. The one to read what Landlock lets through may stay: root can be asked to
/// run a file in a directory that only its owner can enter.
fn drop_capabilities(files_are_bounded: bool) -> io::Result<()> {
    let kept = if files_are_bounded {
        rustix::thread::capabilities(None)?.permitted & CapabilitySet::DAC_READ_SEARCH
    } else {
        CapabilitySet::empty()
    };
    rustix::thread::set_capabilities(
        None,
        CapabilitySets {
            effective: kept,
            permitted: kept,
            inheritable: CapabilitySet::empty(),
        },
    )?;
    Ok(())
}
