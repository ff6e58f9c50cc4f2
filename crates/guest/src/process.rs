//! The library as a program, which a guest's kernel starts by way of the dynamic linker: a process of applications. The guest has
//! the file already, wherever that is.

use std::arch::global_asm;

// The linker jumps to it, as it does to the beginning of any program: without an argument in a register, and without a way back.
global_asm!(
    ".globl dumbbell_guest_start",
    "dumbbell_guest_start:",
    "xor ebp, ebp",
    "and rsp, -16",
    "call {main}",
    "ud2",
    main = sym main,
);

extern "C" fn main() -> ! {
    std::process::exit(dumbbell_emu::guest::run_process())
}
