//! One test program, one module a program or a concern: one link, shared helpers.

mod support;

mod cases; // what people reported of such programs, with the right answers
mod diff; // flecto-diff: changes, places, targets, git
mod docs; // what the README, the manuals and docs/ say is what happens
mod documents; // every format, through flecto-diff
mod layers; // imports point downward
mod mask; // flecto-mask
mod narrate; // flecto-narrate, against a scripted provider
mod payload; // flecto-payload
mod policy; // flecto-policy and its packs
mod post; // flecto-post, against a scripted forge
mod render; // flecto-render: text, json, ndjson, …
mod scale; // slices of a stream on many machines
mod streams; // what every filter does with broken, huge and cut streams
mod wrapper; // flecto: plans, statuses, signals, keys
