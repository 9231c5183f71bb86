//! flecto-render: text, json, ndjson, …

mod exits; // what the stream says of itself, and the status that follows
mod machine; // json, ndjson
mod narration; // what a model said
mod sample; // the records that all formats are shown with
mod text; // E1, and values as they are shown
