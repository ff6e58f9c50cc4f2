//! The result of a build: an object, and the source it was made from.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What a congestion control algorithm is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// This process: a shared object.
    Native,
    /// The running kernel: a BPF object.
    Bpf,
}

/// An object and the source it was made from.
#[derive(Clone, Debug)]
pub(crate) struct Build {
    pub(crate) source: Cow<'static, str>,
    pub(crate) object: Object,
    /// Compiler flags that a kernel module's source turned out to need.
    pub(crate) flags: Vec<String>,
}

/// The bytes of an object.
#[derive(Clone)]
pub(crate) enum Object {
    Embedded(&'static [u8]),
    Compiled(Arc<[u8]>),
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({} bytes)", self.as_ref().len())
    }
}

impl AsRef<[u8]> for Object {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Embedded(bytes) => bytes,
            Self::Compiled(bytes) => bytes,
        }
    }
}
