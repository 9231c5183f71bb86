//! What does git know? The one module that runs git.
