//! libbpf with the libelf and zlib that it uses, linked statically: see `build.rs`. There is
//! nothing to call here; `libbpf-rs` declares the functions.
