//! Congestion control algorithms of the kernel whose functions others may call, and which of ours replaces
//! one natively.

/// Prefix of the functions' names, and the file of `cc/include` that defines them.
const FAMILIES: [(&str, &str); 3] = [
    ("cubictcp_", "kfuncs/cubictcp.c"),
    ("bbr_", "kfuncs/bbr.c"),
    ("dctcp_", "kfuncs/dctcp.c"),
];

/// Files to be linked with an object that lacks these functions.
pub(crate) fn sources_of(undefined: &[&str]) -> Vec<&'static str> {
    FAMILIES
        .iter()
        .filter(|(prefix, _)| undefined.iter().any(|name| name.starts_with(prefix)))
        .map(|(_, source)| *source)
        .collect()
}
