//! What was found out about this text before? Answers that depend on a short text alone, remembered: files repeat their names, and
//! records repeat the files'.
//!
//! What is remembered is a pure function of the whole text, which is compared itself and not by a hash of it, so an answer from
//! here is the answer. A table that is full is emptied: texts that never repeat cost one entry each, and memory has a bound.

use foldhash::HashMap;
use std::cell::RefCell;
use std::thread::LocalKey;

/// Longer texts are not remembered: they are seldom seen twice.
const MAX_TEXT: usize = 96;

/// How many texts are remembered in one table.
const MAX_TEXTS: usize = 4096;

/// What is remembered of one kind, for one thread.
pub(super) type Memory<T> = RefCell<HashMap<Box<str>, T>>;

/// What `find` says of `text`, from memory where it was asked before. `find` may ask memories itself.
pub(super) fn recall<T: Clone>(memory: &'static LocalKey<Memory<T>>, text: &str, find: impl FnOnce() -> T) -> T {
    if let Some(known) = known(memory, text) {
        return known;
    }
    let found = find();
    keep(memory, text, found.clone());
    found
}

/// What is remembered of `text`.
pub(super) fn known<T: Clone>(memory: &'static LocalKey<Memory<T>>, text: &str) -> Option<T> {
    if text.len() > MAX_TEXT {
        return None;
    }
    memory.with_borrow(|memory| memory.get(text).cloned())
}

/// Remembers an answer, of a text that is not too long for that.
pub(super) fn keep<T>(memory: &'static LocalKey<Memory<T>>, text: &str, answer: T) {
    if text.len() > MAX_TEXT {
        return;
    }
    memory.with_borrow_mut(|memory| {
        if memory.len() >= MAX_TEXTS {
            memory.clear();
        }
        memory.insert(text.into(), answer);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static LENGTHS: Memory<usize> = Memory::default();
    }

    #[test]
    fn each_text_has_its_own_answer_and_the_table_its_bound() {
        let mut asked = 0;
        for round in 0..3 {
            for n in 0..MAX_TEXTS {
                let text = format!("name-{n}");
                let length = recall(&LENGTHS, &text, || {
                    asked += 1;
                    text.len()
                });
                assert_eq!(length, text.len(), "{round} {text}");
            }
        }
        assert_eq!(asked, MAX_TEXTS);
        for n in 0..10 * MAX_TEXTS {
            assert_eq!(recall(&LENGTHS, &format!("other-{n}"), || n), n);
        }
        assert!(LENGTHS.with_borrow(|memory| memory.len()) <= MAX_TEXTS);
    }

    #[test]
    fn a_long_text_is_not_kept() {
        let long = "x".repeat(MAX_TEXT + 1);
        assert_eq!(recall(&LENGTHS, &long, || 1), 1);
        assert_eq!(recall(&LENGTHS, &long, || 2), 2);
    }
}
