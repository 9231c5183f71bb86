//! flecto tells people what a configuration change really changes, whether it is risky, and, when they ask, what it may
//! break, in the words of a model that they chose.
//!
//! ```text
//! flecto-diff ─ flecto-policy ─ flecto-mask ─ flecto-payload ─ flecto-narrate ─ flecto-render [─ flecto-post]
//!  reads files    judges,         hides         writes the        asks the         shows            upserts the
//!  and git        gates           secrets       prompt            model            a person         PR comment
//! ```
//!
//! Each program reads records, one JSON object a line, and writes records; `flecto` joins them with pipes. This library is
//! what they share: [`value`], [`path`] and [`outcome`] are the words, [`record`] and [`stream`] the wire, [`document`] and
//! [`secret`] the parts that several need, and one folder a program stands above them. Modules import downward only and the
//! stages never import each other: they meet in the records, as the processes do.
//!
//! ```
//! use flecto::path::{Path, Segment};
//! let path = Path::parse("data['app.yaml']!server.port").expect("a path");
//! assert_eq!(path.0[2], Segment::Inner(None));
//! ```
//!
//! Not here, on purpose: decrypting anything, applying a change, running a repository's code, a verdict by a model.

pub mod cli;
pub mod diff;
pub mod document;
pub mod environment;
pub mod fields;
pub mod git;
pub mod http;
pub mod json;
pub mod limits;
pub mod mask;
pub mod narrate;
pub mod outcome;
pub mod parts;
pub mod path;
pub mod pattern;
pub mod payload;
pub mod pipeline;
pub mod policy;
pub mod post;
pub mod record;
pub mod render;
pub mod rules;
pub mod secret;
pub mod settings;
pub mod stream;
pub mod text;
pub mod value;
