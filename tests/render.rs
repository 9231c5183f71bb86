//! flecto-render: text, json, ndjson, …

mod cases; // the shared odd records, and what must hold for them
mod exits; // what the stream says of itself, and the status that follows
mod hostile; // attacks, in every place and every format
mod html; // one page, in a real browser
mod machine; // json, ndjson
mod markdown; // what a hostile text becomes in a rendered comment
mod narration; // what a model said
mod published; // the formats that leave the machine
mod runner; // what a CI runner makes of an output
mod sample; // the records that all formats are shown with
mod screens; // the rich style, and docs/screens.md
mod text; // E1, and values as they are shown

pub(crate) use runner::commands;
