//! flecto: plans, statuses, signals, keys.

mod accepting; // .flecto-accepted.json and comments: who can silence what
mod asking; // --by, --cost, --max-cost, --exec, --effort
mod attacks; // what the author of a change could bring against the gate
mod begin; // flecto init, flecto doctor
mod cache; // flecto cache
mod command; // G1–G7, E1, E7, -o, -C, --quiet
mod demo; // flecto demo
mod keys; // K1, K3: who sees what
mod kit; // the programs in a folder where one can be replaced
mod manual; // man pages and completions
mod mcp; // flecto mcp
mod narration; // E3–E6, N1–N4, C1, S8: what a model can never do
mod post; // --pr-comment-post: F1, K3
mod settings; // W1, W2, and whose .flectorc counts
mod shell; // G6
mod signals; // nothing outlives the wrapper
mod statuses; // each stage killed, early, missing, at every position
