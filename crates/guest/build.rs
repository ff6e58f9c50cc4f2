//! Makes the library a program too: `src/process.rs`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-e,dumbbell_guest_start");
}
