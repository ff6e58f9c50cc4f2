//! What a congestion control algorithm declares about itself.

use std::collections::BTreeMap;

use dumbbell_declare::{self as declare, IF_ANY, Recorded, records};
use serde::Serialize;

use crate::build::artifact::Target;
use crate::build::find::find;
use crate::error::Error;
use crate::host::instance::Instance;
use crate::object::declarations::{Param, Series};
use crate::request::Request;

/// How a congestion control algorithm was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It came with the engine.
    BuiltIn,
    /// A BPF source.
    Bpf,
    /// The source of a kernel module.
    Module,
    /// A class in Python.
    Python,
    /// A QUIC stack's own.
    Stack,
    /// The running kernel's own.
    #[default]
    Kernel,
}

impl Recorded for Kind {
    const KIND: declare::Kind = declare::Kind::Text;
}

records! {
    /// What a congestion control algorithm that ran declares about itself, for the result to record.
    pub struct Declared: "declared" {
        /// How it was given.
        kind: Kind;
        /// Its parameters, in the order of the source.
        params: Vec<Param>;
        /// Its time series, in the order of the source.
        series: Vec<Series>;
        /// The callbacks it has, in the kernel's order.
        ops: Vec<&'static str>;
        /// What distinguishes it from what a stock kernel would run, a sentence without its subject each.
        notes: Vec<String>, IF_ANY;
    }
}

/// A congestion control algorithm: its name, parameters, series and callbacks.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Description {
    /// Its name in the kernel's table.
    pub name: String,
    /// One line, the first sentence of its file's header comment.
    pub title: String,
    /// Its parameters, in the order of the source.
    pub params: Vec<Param>,
    /// Its time series, in the order of the source.
    pub series: Vec<Series>,
    /// The callbacks it has, in the kernel's order.
    pub ops: Vec<&'static str>,
    /// How it was given.
    pub kind: Kind,
    /// Whether it needs ECN, AccECN included.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needs_ecn: bool,
    /// What distinguishes it from what a stock kernel would run, a sentence without its subject each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Describes a built-in or a file, named as in [`Request::name`].
pub fn describe(name: &str) -> Result<Description, Error> {
    let build = find(name, Target::Native)?;
    let request = Request {
        name: name.to_owned(),
        params: BTreeMap::new(),
    };
    let instance = Instance::new(&request, &build.object, 0)?;
    Ok(Description {
        name: instance.name().to_owned(),
        title: title(&build.source),
        params: instance.declarations().params.clone(),
        series: instance.series().to_vec(),
        ops: instance.ops().present().collect(),
        kind: instance.declared().kind,
        needs_ecn: instance.needs_ecn() || instance.needs_accecn(),
        notes: instance.declarations().notes.clone(),
    })
}

/// The first sentence of the first block comment that is not the licence's.
fn title(source: &str) -> String {
    let comment = source
        .split("/*")
        .skip(1)
        .filter_map(|rest| rest.split_once("*/"))
        .map(|(comment, _)| comment)
        .find(|comment| !comment.contains("SPDX-License-Identifier"));
    let lines = comment.unwrap_or_default().lines();
    let paragraph: Vec<&str> = lines
        .map(|line| line.trim().trim_start_matches('*').trim())
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    let paragraph = paragraph.join(" ");
    let sentence = paragraph
        .split_once(". ")
        .map_or(paragraph.as_str(), |(first, _)| first);
    sentence.trim_end_matches('.').to_owned()
}
