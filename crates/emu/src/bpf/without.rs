//! What stands in when dumbbell was built without the feature `bpf`.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

use dumbbell_cc::{Request, Series};

use super::socket_state::SocketState;
use crate::error::Error;

fn left_out() -> Error {
    Error::Refused(
        "this dumbbell was built without BPF and cannot load congestion controls into the kernel; \
         install libelf's and zlib's headers (apt install libelf-dev zlib1g-dev pkg-config) and \
         build it again, or use the kernel's own, as in `linux/cubic`"
            .to_owned(),
    )
}

/// Never made.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) kernel_name: String,
    never: Never,
}

/// Never made.
#[derive(Clone, Debug)]
pub(crate) struct SocketTags(Never);

/// Never made.
#[derive(Debug)]
pub(crate) struct StateReader(Never);

#[derive(Clone, Copy, Debug)]
enum Never {}

impl Loaded {
    pub(crate) fn load(_request: &Request) -> Result<Self, Error> {
        Err(left_out())
    }

    pub(crate) fn name(&self) -> &str {
        match self.never {}
    }

    pub(crate) fn needs_ecn(&self) -> bool {
        match self.never {}
    }

    pub(crate) fn build(&self) -> &str {
        match self.never {}
    }

    pub(crate) fn params(&self) -> &BTreeMap<String, i64> {
        match self.never {}
    }

    pub(crate) fn series(&self) -> &[Series] {
        match self.never {}
    }

    pub(crate) fn read_series(
        &self,
        _state: &SocketState,
        _storage: &[u64],
        _take: impl FnMut(usize, u64),
    ) {
        match self.never {}
    }
}

impl SocketTags {
    pub(crate) fn tag(&self, _socket: BorrowedFd<'_>, _flow: u32) -> Result<(), Error> {
        match self.0 {}
    }
}

impl StateReader {
    pub(crate) fn new<'a>(
        _loaded: impl IntoIterator<Item = &'a Loaded>,
        _flows: usize,
    ) -> Result<Self, Error> {
        Err(left_out())
    }

    pub(crate) fn tags(&self) -> SocketTags {
        match self.0 {}
    }

    pub(crate) fn read(&mut self) -> Result<(), Error> {
        match self.0 {}
    }

    pub(crate) fn state(&self, _flow: usize) -> Option<&SocketState> {
        match self.0 {}
    }

    pub(crate) fn storage(&self, _flow: usize) -> &[u64] {
        match self.0 {}
    }
}
