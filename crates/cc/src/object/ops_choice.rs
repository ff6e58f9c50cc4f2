//! Chooses the ops table of a file, and says whether the kernel would accept the file's licence.

use crate::object::elf::Elf;

/// Licences under which the kernel loads a `struct_ops` program (`license_is_gpl_compatible`).
const GPL_COMPATIBLE: [&str; 6] = [
    "GPL",
    "GPL v2",
    "GPL and additional rights",
    "Dual BSD/GPL",
    "Dual MIT/GPL",
    "Dual MPL/GPL",
];

/// The table named `wanted` (its variable's name), else the only one, else the only one that
/// `check` accepts.
pub(crate) fn choose<'data>(
    elf: &Elf<'data>,
    wanted: Option<&str>,
    check: impl Fn(&str) -> Result<(), String>,
) -> Result<&'data str, String> {
    check_licence(elf)?;
    let tables = elf.ops_tables();
    let listed = tables.join(", ");
    if let Some(wanted) = wanted {
        let found = tables.into_iter().find(|table| *table == wanted);
        return found
            .ok_or_else(|| format!("has no ops table `{wanted}`; it has {}", or_none(&listed)));
    }
    match tables[..] {
        [table] => return Ok(table),
        [] => return Err("defines no congestion control; put a `struct tcp_congestion_ops` in SEC(\".struct_ops\")".to_owned()),
        _ => {}
    }
    let mut complete = tables.iter().filter(|table| check(table).is_ok());
    match (complete.next(), complete.next()) {
        (Some(table), None) => Ok(table),
        (Some(table), Some(_)) => Err(format!(
            "defines several algorithms ({listed}); append `#` and the name of one, as in `#{table}`"
        )),
        (None, _) => Err(format!(
            "defines several algorithms ({listed}), but none that the kernel would \
             register: `{}` {}",
            tables[0],
            check(tables[0]).expect_err("none is complete")
        )),
    }
}

fn or_none(listed: &str) -> &str {
    if listed.is_empty() { "none" } else { listed }
}

fn check_licence(elf: &Elf<'_>) -> Result<(), String> {
    match elf.licence() {
        Some(licence) if !GPL_COMPATIBLE.contains(&licence) => Err(format!(
            "declares the licence `{licence}`, but the kernel only loads congestion controls with a \
             GPL-compatible one; use SEC(\"license\") = \"GPL\", \"Dual BSD/GPL\" or \
             \"Dual MIT/GPL\""
        )),
        _ => Ok(()),
    }
}
