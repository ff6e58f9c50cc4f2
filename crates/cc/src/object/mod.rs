//! What can be read from an object before it is mapped or loaded: its ELF file, its ops table, its
//! declarations.

pub(crate) mod constructors;
pub(crate) mod contents;
pub(crate) mod declaration_reader;
pub(crate) mod declarations;
pub(crate) mod elf;
pub(crate) mod ops;
pub(crate) mod ops_choice;
