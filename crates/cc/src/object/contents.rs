//! What an object says before any of its code runs.

use crate::build::digest::digest;
use crate::object::declaration_reader::read_declarations;
use crate::object::declarations::Declarations;
use crate::object::elf::Elf;

/// What the object of a congestion control algorithm says, the same in each of its instances.
#[derive(Debug)]
pub(crate) struct Contents {
    /// A hexadecimal digest of the object and of the headers it was built with.
    pub(crate) build: String,
    /// What it declares about itself.
    pub(crate) declarations: Declarations,
}

impl Contents {
    /// Reads an object. An error completes a sentence that begins with the object's name.
    pub(crate) fn read(object: &[u8]) -> Result<Self, String> {
        Ok(Self {
            declarations: read_declarations(&Elf::parse(object)?)?,
            build: digest(object),
        })
    }
}
