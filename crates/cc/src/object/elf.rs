//! What an object's ELF file contains before it is mapped or loaded: its ops table, its
//! declarations, and the variables that the host reads and writes.

use object::elf::{PF_R, PF_W, PF_X};
use object::read::elf::{ElfFile64, ElfSymbol64, ProgramHeader as _};
use object::{
    Endianness, Object as _, ObjectKind, ObjectSection as _, ObjectSymbol as _,
    ObjectSymbolTable as _, RelocationTarget, SectionKind, SymbolKind,
};
use rustix::mm::MprotectFlags;

use crate::object::ops::OpsImage;

/// Section of the declarations that `cc/include/dumbbell.h` makes.
const DECLARATIONS: &str = "dumbbell_decl";
/// Their symbols end in a number that counts up in the order of the source.
const DECLARATION_PREFIX: &str = "__dumbbell_decl_";
/// Section of the licence that the kernel checks.
const LICENCE: &str = "license";
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

/// Where a variable of an object for BPF lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variable<'data> {
    pub(crate) section: &'data str,
    /// From the start of the section.
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

/// A parsed object: shared, or relocatable, as those for BPF are.
pub(crate) struct Elf<'data>(ElfFile64<'data, Endianness>);

impl<'data> Elf<'data> {
    pub(crate) fn parse(object: &'data [u8]) -> Result<Self, String> {
        let file =
            ElfFile64::parse(object).map_err(|error| format!("is not an object: {error}"))?;
        Ok(Self(file))
    }

    /// Names of the variables in the `struct_ops` sections, sorted.
    pub(crate) fn ops_tables(&self) -> Vec<&'data str> {
        let in_struct_ops = |index| {
            let section = self.0.section_by_index(index);
            section.is_ok_and(|section| section.name().is_ok_and(|name| STRUCT_OPS.contains(&name)))
        };
        let mut names: Vec<&str> = self
            .globals()
            .filter(|symbol| symbol.size() > 0 && symbol.section_index().is_some_and(in_struct_ops))
            .filter_map(|symbol| symbol.name().ok())
            .collect();
        names.sort_unstable();
        names
    }

    /// The object's exported symbols.
    fn globals(&self) -> impl Iterator<Item = ElfSymbol64<'data, '_, Endianness>> {
        let relocatable = self.0.kind() == ObjectKind::Relocatable;
        let linked = (!relocatable).then(|| self.0.dynamic_symbols());
        let unlinked = relocatable.then(|| self.0.symbols());
        linked
            .into_iter()
            .flatten()
            .chain(unlinked.into_iter().flatten())
            .filter(|symbol| symbol.is_global() && symbol.is_definition())
    }

    fn global(&self, name: &str) -> Option<ElfSymbol64<'data, '_, Endianness>> {
        self.globals()
            .find(|symbol| symbol.name().is_ok_and(|found| found == name))
    }

    /// Undefined symbols, sorted: kernel functions and externs. Weak ones are included only if they
    /// belong to the kernel's configuration, because those are read without a check for null.
    pub(crate) fn undefined(&self) -> Vec<&'data str> {
        let mut names: Vec<&str> = self
            .0
            .dynamic_symbols()
            .filter(|symbol| symbol.is_undefined())
            .filter_map(|symbol| Some((symbol.name().ok()?, symbol.is_weak())))
            .filter(|(name, is_weak)| !name.is_empty() && (!is_weak || name.starts_with("CONFIG_")))
            .map(|(name, _)| name)
            .collect();
        names.sort_unstable();
        names
    }

    /// The licence that the object declares in the section of that name.
    pub(crate) fn licence(&self) -> Option<&'data str> {
        let data = self.0.section_by_name(LICENCE)?.data().ok()?;
        let end = data.iter().position(|&byte| byte == 0)?;
        std::str::from_utf8(&data[..end]).ok()
    }

    /// Bytes of an exported variable.
    pub(crate) fn size(&self, name: &str) -> Option<u64> {
        Some(self.global(name)?.size())
    }

    /// Bytes of an exported variable before anything runs.
    pub(crate) fn initial_value(&self, name: &str) -> Option<Vec<u8>> {
        let symbol = self.global(name)?;
        let section = self.0.section_by_index(symbol.section_index()?).ok()?;
        let size = usize::try_from(symbol.size()).ok()?;
        if section.kind() == SectionKind::UninitializedData {
            return Some(vec![0; size]);
        }
        let start = usize::try_from(symbol.address().checked_sub(section.address())?).ok()?;
        Some(section.data().ok()?.get(start..start + size)?.to_vec())
    }

    /// A variable of a relocatable object.
    pub(crate) fn variable(&self, name: &str) -> Option<Variable<'data>> {
        let symbol = self.global(name)?;
        let section = self.0.section_by_index(symbol.section_index()?).ok()?;
        Some(Variable {
            section: section.name().ok()?,
            offset: usize::try_from(symbol.address()).ok()?,
            size: usize::try_from(symbol.size()).ok()?,
        })
    }

    /// An ops table of a relocatable object, by the name of its variable.
    pub(crate) fn ops_image(&self, name: &str) -> Result<OpsImage<'data>, String> {
        let unusable = || format!("has an unusable `{name}`");
        let table = self.variable(name).ok_or_else(unusable)?;
        let section = self.0.section_by_name(table.section).ok_or_else(unusable)?;
        let data = section.data().map_err(|_| unusable())?;
        let range = table.offset..table.offset + table.size;
        Ok(OpsImage {
            bytes: data.get(range.clone()).ok_or_else(unusable)?,
            relocations: section
                .relocations()
                .filter(|(offset, _)| range.contains(&(*offset as usize)))
                .map(|(offset, _)| offset - range.start as u64)
                .collect(),
        })
    }

    /// An ops table of a shared object, by the name of its variable.
    pub(crate) fn linked_ops_image(&self, name: &str) -> Result<OpsImage<'data>, String> {
        let unusable = || format!("has an unusable `{name}`");
        let symbol = self.global(name).ok_or_else(unusable)?;
        let range = symbol.address()..symbol.address() + symbol.size();
        let section = symbol.section_index().ok_or_else(unusable)?;
        let section = self.0.section_by_index(section).map_err(|_| unusable())?;
        let data = section
            .data_range(range.start, symbol.size())
            .ok()
            .flatten();
        let relocations = self.0.dynamic_relocations().into_iter().flatten();
        Ok(OpsImage {
            bytes: data.ok_or_else(unusable)?,
            relocations: relocations
                .filter(|(address, _)| range.contains(address))
                .map(|(address, _)| address - range.start)
                .collect(),
        })
    }

    /// The object as its library reads it.
    pub(crate) fn file(&self) -> &ElfFile64<'data, Endianness> {
        &self.0
    }

    /// What the dynamic linker reads: tags and their values.
    pub(crate) fn dynamic_tags(&self) -> impl Iterator<Item = (i64, u64)> {
        const DYNAMIC: &str = ".dynamic";
        let section = self.0.section_by_name(DYNAMIC);
        let data = section
            .and_then(|section| section.data().ok())
            .unwrap_or_default();
        let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
        data.chunks_exact(16)
            .map(move |entry| (word(&entry[..8]) as i64, word(&entry[8..])))
            .take_while(|(tag, _)| *tag != 0)
    }

    /// The address that is put at an address when the object is mapped.
    pub(crate) fn pointer_at(&self, address: u64) -> Option<u64> {
        let mut relocations = self.0.dynamic_relocations()?;
        let (_, relocation) = relocations.find(|(place, _)| *place == address)?;
        match relocation.target() {
            RelocationTarget::Symbol(index) => {
                let symbols = self.0.dynamic_symbol_table()?;
                Some(symbols.symbol_by_index(index).ok()?.address())
            }
            _ => Some(relocation.addend() as u64),
        }
    }

    /// The name of the function at an address.
    pub(crate) fn function_at(&self, address: u64) -> Option<&'data str> {
        let mut symbols = self.0.symbols().chain(self.0.dynamic_symbols());
        let found = symbols.find(|symbol| {
            symbol.is_definition()
                && symbol.kind() == SymbolKind::Text
                && symbol.address() == address
        });
        found?.name().ok().filter(|name| !name.is_empty())
    }

    /// An exported variable of a shared object.
    pub(crate) fn symbol(&self, name: &str) -> Option<Symbol> {
        let symbol = self.global(name)?;
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
