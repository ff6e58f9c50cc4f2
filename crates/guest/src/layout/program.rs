//! The structures of programs.

use std::ffi::{c_char, c_uint};

use dumbbell_emu::guest::PlannedProgram;

use super::addresses;

/// The layout of `struct dumbbell_port` in C.
#[repr(C)]
#[derive(Clone, Copy)]
struct Port {
    number: u16,
    is_udp: u8,
}

/// The layout of `struct dumbbell_program` in C.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Program {
    path: *const c_char,
    words: *const *const c_char,
    environment: *const *const c_char,
    directory: *const c_char,
    host: c_uint,
    is_server: c_uint,
    start_ns: u64,
    ports: *const Port,
    port_count: c_uint,
    ready_ns: u64,
}

/// A program as the kernel gets it, with all that it refers to.
pub(crate) struct LaidOutProgram {
    pub(crate) program: Program,
    _words: Vec<*const c_char>,
    _environment: Vec<*const c_char>,
    _ports: Vec<Port>,
    _planned: PlannedProgram,
}

impl LaidOutProgram {
    pub(crate) fn of(planned: &PlannedProgram) -> Self {
        let planned = planned.clone();
        let words = addresses(&planned.words);
        let environment = addresses(&planned.environment);
        let port = |port: &dumbbell_scenario::Port| match *port {
            dumbbell_scenario::Port::Tcp(number) => Port { number, is_udp: 0 },
            dumbbell_scenario::Port::Udp(number) => Port { number, is_udp: 1 },
        };
        let ports: Vec<Port> = planned.ready.iter().map(port).collect();
        // Texts and lists are on the heap, where they stay.
        let program = Program {
            path: planned.path.as_ptr(),
            words: words.as_ptr(),
            environment: environment.as_ptr(),
            directory: planned.directory.as_ptr(),
            host: planned.host,
            is_server: planned.is_server.into(),
            start_ns: planned.start_ns,
            ports: ports.as_ptr(),
            port_count: ports.len() as c_uint,
            ready_ns: planned.ready_within_ns,
        };
        Self {
            program,
            _words: words,
            _environment: environment,
            _ports: ports,
            _planned: planned,
        }
    }
}
