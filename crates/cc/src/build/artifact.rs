//! The result of a build: an object, and the source it was made from.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::object::contents::Contents;

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

/// An object: one that is embedded in this program, or one that it compiled.
#[derive(Clone)]
pub(crate) enum Object {
    Embedded(&'static Embedded),
    Compiled(Arc<Compiled>),
}

/// An object's bytes, and what they say, which is read once.
pub(crate) struct Kept<B> {
    bytes: B,
    contents: OnceLock<Result<Arc<Contents>, String>>,
}

/// An object that is embedded in this program.
pub(crate) type Embedded = Kept<&'static [u8]>;
/// An object that this program compiled.
pub(crate) type Compiled = Kept<Vec<u8>>;

impl<B> Kept<B> {
    pub(crate) const fn new(bytes: B) -> Self {
        Self {
            bytes,
            contents: OnceLock::new(),
        }
    }
}

impl Object {
    /// What it says. An error completes a sentence that begins with its name.
    pub(crate) fn contents(&self) -> Result<Arc<Contents>, String> {
        let contents = match self {
            Self::Embedded(object) => &object.contents,
            Self::Compiled(object) => &object.contents,
        };
        let read = || Contents::read(self.as_ref()).map(Arc::new);
        contents.get_or_init(read).clone()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({} bytes)", self.as_ref().len())
    }
}

impl AsRef<[u8]> for Object {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Embedded(object) => object.bytes,
            Self::Compiled(object) => &object.bytes,
        }
    }
}
