//! What an object's ELF file says before it is mapped: its ops table, its
//! declarations, and the symbols that the host reads and writes.

use object::elf::{PF_R, PF_W, PF_X};
use object::read::elf::{ElfFile64, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _};
use rustix::mm::MprotectFlags;

/// Section of the declarations that `cc/include/dumbbell.h` makes.
const DECLARATIONS: &str = "dumbbell_decl";
/// Their symbols end in a number that counts up in the order of the source.
const DECLARATION_PREFIX: &str = "__dumbbell_decl_";
/// Sections where libbpf expects a `struct_ops` table.
const STRUCT_OPS: [&str; 2] = [".struct_ops", ".struct_ops.link"];

/// A symbol of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// Bytes of the variable.
    pub(crate) size: u64,
    /// How its segment is mapped.
    pub(crate) protection: MprotectFlags,
}

/// A parsed shared object.
pub(crate) struct Elf<'data>(ElfFile64<'data, Endianness>);

impl<'data> Elf<'data> {
    pub(crate) fn parse(object: &'data [u8]) -> Result<Self, String> {
        let file =
            ElfFile64::parse(object).map_err(|error| format!("is not an object: {error}"))?;
        Ok(Self(file))
    }

    /// Names of the variables in the `struct_ops` sections.
    pub(crate) fn ops_tables(&self) -> Vec<&'data str> {
        let in_struct_ops = |index| {
            let section = self.0.section_by_index(index);
            section.is_ok_and(|section| section.name().is_ok_and(|name| STRUCT_OPS.contains(&name)))
        };
        self.0
            .dynamic_symbols()
            .filter(|symbol| symbol.size() > 0 && symbol.section_index().is_some_and(in_struct_ops))
            .filter_map(|symbol| symbol.name().ok())
            .collect()
    }

    /// An exported variable.
    pub(crate) fn symbol(&self, name: &str) -> Option<Symbol> {
        let symbol = self.0.dynamic_symbols().find(|symbol| {
            symbol.is_definition() && symbol.name().is_ok_and(|found| found == name)
        })?;
        let endian = self.0.endian();
        let segment = self.0.elf_program_headers().iter().find(|header| {
            let start = header.p_vaddr(endian);
            header.p_type(endian) == object::elf::PT_LOAD
                && (start..start + header.p_memsz(endian)).contains(&symbol.address())
        })?;
        let flags = segment.p_flags(endian);
        let mut protection = MprotectFlags::empty();
        protection.set(MprotectFlags::READ, flags.contains(PF_R));
        protection.set(MprotectFlags::WRITE, flags.contains(PF_W));
        protection.set(MprotectFlags::EXEC, flags.contains(PF_X));
        Some(Symbol {
            size: symbol.size(),
            protection,
        })
    }

    /// The declarations' bytes in the order of the source; compilers are free to
    /// place them in the section in any order.
    pub(crate) fn declarations(&self) -> Result<Vec<&'data [u8]>, String> {
        let Some(section) = self.0.section_by_name(DECLARATIONS) else {
            return Ok(Vec::new());
        };
        let bytes = section
            .data()
            .map_err(|error| format!("has a broken section: {error}"))?;
        let mut found: Vec<(u64, &[u8])> = Vec::new();
        for symbol in self.0.symbols() {
            let Ok(name) = symbol.name() else { continue };
            let Some(number) = name.strip_prefix(DECLARATION_PREFIX) else {
                continue;
            };
            let number = number
                .parse()
                .map_err(|_| format!("has a stray symbol {name}"))?;
            let declaration = usize::try_from(symbol.address().wrapping_sub(section.address()))
                .ok()
                .and_then(|start| bytes.get(start..start.checked_add(symbol.size() as usize)?))
                .ok_or_else(|| format!("has {name} outside of section {DECLARATIONS}"))?;
            found.push((number, declaration));
        }
        if found.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() != bytes.len() {
            return Err(format!(
                "was stripped of the symbols of section {DECLARATIONS}"
            ));
        }
        found.sort_by_key(|(number, _)| *number);
        Ok(found.into_iter().map(|(_, bytes)| bytes).collect())
    }
}
