//! Functions that the dynamic linker would run by itself: constructors, destructors, resolvers.

use object::elf::{
    DT_FINI, DT_FINI_ARRAY, DT_INIT, DT_INIT_ARRAY, DT_PREINIT_ARRAY, STT_GNU_IFUNC,
};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, RelocationFlags};

use crate::object::elf::Elf;

/// Dynamic tags of functions that run when an object is loaded or unloaded, and what those are.
const TAGS: [(i64, &str); 5] = [
    (DT_PREINIT_ARRAY.0, CONSTRUCTOR),
    (DT_INIT_ARRAY.0, CONSTRUCTOR),
    (DT_INIT.0, CONSTRUCTOR),
    (DT_FINI_ARRAY.0, DESTRUCTOR),
    (DT_FINI.0, DESTRUCTOR),
];
const CONSTRUCTOR: &str = "constructor";
const DESTRUCTOR: &str = "destructor";
const RESOLVER: &str = "resolver";
/// The linkers' sections for the older way, which loaders of other systems run.
const OLD_SECTIONS: [(&str, &str); 2] = [(".ctors", CONSTRUCTOR), (".dtors", DESTRUCTOR)];
/// Relocations whose value a function of the object computes.
const RESOLVED: [u32; 3] = [37, 1032, 58]; // x86-64, arm64, riscv64: `R_*_IRELATIVE`

/// Refuses an object made from C that the dynamic linker would not merely map. The error completes a
/// sentence that begins with the file's name.
pub(crate) fn refuse(elf: &Elf<'_>) -> Result<(), String> {
    let Some((what, address)) = first(elf) else {
        return Ok(());
    };
    let name = address.and_then(|address| elf.function_at(address));
    let name = name.map_or_else(String::new, |name| format!(" `{name}`"));
    Err(format!(
        "has a {what}{name}, which no kernel runs; move its work to `init`, or `module_init` of a \
         module"
    ))
}

/// The first such function: what it is, and its address.
fn first(elf: &Elf<'_>) -> Option<(&'static str, Option<u64>)> {
    let file = elf.file();
    for (tag, value) in elf.dynamic_tags() {
        if let Some((_, what)) = TAGS.iter().find(|(known, _)| *known == tag) {
            let is_array = tag != DT_INIT.0 && tag != DT_FINI.0;
            return Some((
                what,
                if is_array {
                    elf.pointer_at(value)
                } else {
                    Some(value)
                },
            ));
        }
    }
    for (name, what) in OLD_SECTIONS {
        if let Some(section) = file.section_by_name(name)
            && section.size() > 0
        {
            return Some((what, elf.pointer_at(section.address())));
        }
    }
    let mut exported = file.dynamic_symbols();
    if let Some(resolver) = exported.find(|symbol| symbol.elf_symbol().st_type() == STT_GNU_IFUNC) {
        return Some((RESOLVER, Some(resolver.address())));
    }
    let mut relocations = file.dynamic_relocations().into_iter().flatten();
    relocations
        .find(|(_, relocation)| {
            matches!(relocation.flags(), RelocationFlags::Elf { r_type } if RESOLVED.contains(&r_type.0))
        })
        .map(|(_, relocation)| (RESOLVER, Some(relocation.addend() as u64)))
}
