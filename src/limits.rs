//! Every number that a reader might doubt, in one place, with its reason.
//!
//! Limits end in a clear error or a stated shortening; none of them cuts anything quietly.

use std::time::Duration;

/// The longest record line, in bytes without its newline. `flecto-diff` never writes a longer one: it splits a larger
/// subtree into its parts. 16 MiB holds any value that a person reviews, and bounds what a filter must keep in memory.
pub const MAX_LINE: usize = 16 << 20;

/// The longest string that `flecto-diff` puts into a record, in bytes of JSON. A longer one becomes a stand-in that says
/// its length and digest. A quarter of [`MAX_LINE`], so that a record with both sides always fits.
pub const MAX_STRING: usize = MAX_LINE / 4;

/// `--max-file-size`: what one side of one file may weigh, in bytes.
pub const MAX_FILE_SIZE: u64 = 64 << 20;

/// How deep a document may nest. serde_json's 128 refuses real files (serde-rs/json#334); granit's own limit is 255,
/// jsonc-parser's 512. One number for all formats, so that a file does not become readable by conversion.
pub const MAX_DEPTH: usize = 255;

/// How many nodes the aliases and merge keys of one YAML file may expand to, beyond those that are written in it. A
/// billion-laughs file passes any limit at once; the largest real one seen expands to some thousands.
pub const MAX_ALIAS_NODES: usize = 1_000_000;

/// How many documents one file may hold.
pub const MAX_DOCUMENTS: usize = 100_000;

/// How deep documents may stand inside strings inside documents (`a!b!c`).
pub const MAX_EMBEDDED: usize = 3;

/// How many bytes of one file's records `flecto-mask` holds back to mask a secret wherever it occurs in that file.
pub const MASK_WINDOW: usize = 32 << 20;

/// A masked value is searched for elsewhere in its file when it has at least this many characters: shorter ones are
/// ordinary words too often.
pub const MASK_PROPAGATE: usize = 8;

/// How long the narration text may be, in characters.
pub const MAX_NARRATION: usize = 20_000;

/// How long a provider's error text may be on the one line that shows it, in characters.
pub const MAX_ERROR_TEXT: usize = 200;

/// The largest provider response, in bytes. The longest useful answer is some 100 KB.
pub const MAX_RESPONSE: u64 = 8 << 20;

/// Attempts after the first at one provider request.
pub const RETRIES: u32 = 2;

/// `FLECTO_EXPLAIN_MAX_INPUT_TOKENS`: a request estimated above it is not sent.
pub const MAX_INPUT_TOKENS: u64 = 30_000;

/// `FLECTO_EXPLAIN_MAX_TOKENS`: the output cap that the provider is given.
pub const MAX_OUTPUT_TOKENS: u64 = 16_000;

/// `FLECTO_EXPLAIN_TIMEOUT_MS`: the bound on a whole narration.
pub const NARRATION_TIMEOUT: Duration = Duration::from_millis(120_000);

/// How long the wrapper waits for the narration branch after [`NARRATION_TIMEOUT`] before it goes on without.
pub const NARRATION_GRACE: Duration = Duration::from_secs(4);

/// How many bytes of judged records the wrapper keeps for the narration while the report goes out. A request holds at most
/// some hundred kilobytes of them ([`MAX_INPUT_TOKENS`]); beyond this bound no model could be asked anyway.
pub const NARRATION_BUFFER: usize = 32 << 20;

/// How much of one value the `text` format shows, in characters; of a longer one it shows both ends and tells the length.
/// Two of them, a path and the words between fit into three lines of a common terminal.
pub const SHOWN_VALUE: usize = 120;

/// How long the wrapper waits for `flecto-post`, which bounds itself at 90 seconds.
pub const POST_LIMIT: Duration = Duration::from_secs(95);

/// How long the wrapper waits for a job's summary, which asks nobody and writes one file.
pub const SUMMARY_LIMIT: Duration = Duration::from_secs(60);
