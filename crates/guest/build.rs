//! Makes the library a program too, on the machines that have guests: `src/process.rs`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-e,dumbbell_guest_start");
    }
}
