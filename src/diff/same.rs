//! Are two values the same? Equality of trees, and a hash that goes with it.
//!
//! Key order, style and comments never count; the order of a list does. Numbers are compared as exact decimals, so that
//! nothing above 2^53 and no 18th digit is lost: `1e3` is `1000.0`, `0.1` is not `0.10000000000000001`. The hash is keyed
//! at random in each process: whoever writes a file cannot make two values of it collide, and no output depends on it.

use crate::document::{Data, Entry, Key, Node, Scalar, ScalarKind};
use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _, RandomState};

/// A number as sign, digits without zeros at either end, and the power of ten of the last digit.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// Reads `-12.50e3`, with `_` between digits. `None` for what is no finite decimal (`.inf`, `nan`).
    pub(super) fn parse(text: &str) -> Option<Decimal> {
        let (negative, rest) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let end = rest.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(rest.len());
        let written: i64 = match rest.get(end + 1..) {
            None | Some([]) if end < rest.len() => return None,
            None | Some([]) => 0,
            Some(text) => std::str::from_utf8(text).ok()?.parse().ok()?,
        };
        let mut digits = Vec::with_capacity(end);
        let mut fraction = 0_i64;
        let mut point = false;
        for &byte in &rest[..end] {
            match byte {
                b'0'..=b'9' => {
                    digits.push(byte);
                    fraction += i64::from(point);
                }
                b'.' if !point => point = true,
                b'_' => {}
                _ => return None,
            }
        }
        if digits.is_empty() {
            return None;
        }
        let mut exponent = written.checked_sub(fraction)?;
        while digits.last() == Some(&b'0') {
            digits.pop();
            exponent = exponent.checked_add(1)?;
        }
        let zeros = digits.iter().take_while(|&&b| b == b'0').count();
        digits.drain(..zeros);
        if digits.is_empty() {
            return Some(Decimal { negative: false, digits, exponent: 0 });
        }
        Some(Decimal { negative, digits, exponent })
    }
}

fn same_number(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    match (Decimal::parse(a), Decimal::parse(b)) {
        (Some(a), Some(b)) => a == b,
        // `.inf`, `.NaN`: words in any case.
        (None, None) => a.trim_start_matches('+').eq_ignore_ascii_case(b.trim_start_matches('+')),
        _ => false,
    }
}

fn same_scalar(a: &Scalar<'_>, b: &Scalar<'_>) -> bool {
    use ScalarKind::{Date, Expression, Float, Int, Number, Template};
    match (a.kind, b.kind) {
        (Int, Int) => a.canonical() == b.canonical(),
        // JSON has one kind of number, so against it the others' kinds say nothing.
        (Float | Number, Float | Number) | (Number, Int) | (Int, Number) => same_number(a.canonical(), b.canonical()),
        (Date, Date) | (Expression, Expression) | (Template, Template) => a.canonical() == b.canonical(),
        _ => false,
    }
}

/// Whether two values that are no containers are the same; containers never are here.
pub(super) fn same_leaf(a: &Data<'_>, b: &Data<'_>) -> bool {
    match (a, b) {
        (Data::Null, Data::Null) | (Data::Cycle, Data::Cycle) => true,
        (Data::Bool(a), Data::Bool(b)) => a == b,
        (Data::String(a), Data::String(b)) | (Data::Encrypted(a), Data::Encrypted(b)) => a == b,
        (Data::Typed(a), Data::Typed(b)) => same_scalar(a, b),
        _ => false,
    }
}

/// What a look at two values tells, without hashing them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// They are the same.
    Same,
    /// They are not.
    Different,
    /// Keys stand in another order, or a YAML 1.1 reader sees something else: only hashes tell.
    Unclear,
}

/// What was seen of lists, by the address of the old one, so that lists within lists are not looked through again at each
/// level. Only what is not the same: where it is, nobody looks further.
pub(super) type Looks = foldhash::HashMap<usize, Look>;

/// Looks at two values up to where they part.
pub(super) fn look(old: &Node<'_>, new: &Node<'_>, looks: &mut Looks) -> Look {
    if old.tag != new.tag {
        return Look::Different;
    }
    if old.yaml11.is_some() || new.yaml11.is_some() {
        return Look::Unclear;
    }
    match (&old.data, &new.data) {
        (Data::List(a), Data::List(b)) => {
            let seen = look_at_items(a, b, looks);
            if seen != Look::Same {
                looks.insert(std::ptr::from_ref(old) as usize, seen);
            }
            seen
        }
        (Data::Map(a), Data::Map(b)) => {
            if a.len() != b.len() {
                return Look::Different;
            }
            for (a, b) in a.iter().zip(b) {
                if a.key != b.key || a.yaml11 != b.yaml11 {
                    return Look::Unclear;
                }
                match look(&a.value, &b.value, looks) {
                    Look::Same => {}
                    other => return other,
                }
            }
            Look::Same
        }
        (a, b) if same_leaf(a, b) => Look::Same,
        _ => Look::Different,
    }
}

fn look_at_items(old: &[Node<'_>], new: &[Node<'_>], looks: &mut Looks) -> Look {
    if old.len() != new.len() {
        return Look::Different;
    }
    old.iter().zip(new).map(|(a, b)| look(a, b, looks)).find(|seen| *seen != Look::Same).unwrap_or(Look::Same)
}

/// Whether two keys are the same. In one map `1.5` and `1.50` are told apart, as written; between two sides they are one.
pub(super) fn same_key(a: &Key<'_>, b: &Key<'_>) -> bool {
    match (a, b) {
        (Key::Typed("float", a), Key::Typed("float", b)) => same_number(a, b),
        _ => a == b,
    }
}

/// What a YAML 1.1 reader sees.
pub(super) fn as_yaml11<'n, 'a>(node: &'n Node<'a>) -> &'n Data<'a> {
    node.yaml11.as_deref().unwrap_or(&node.data)
}

/// Hashes of values: equal for the same values, whatever their map order. Containers are remembered by address, so that
/// lists within lists cost no more than one walk; the trees must not move while this lives.
#[derive(Debug, Default)]
pub(super) struct Hashes {
    keys: RandomState,
    known: HashMap<usize, u64>,
    /// Whether the two sides are of different formats, of which one may know a single kind of number.
    pub(super) loose_numbers: bool,
}

impl Hashes {
    /// The hash of a value, both of its readings and its tag included.
    pub(super) fn of(&mut self, node: &Node<'_>) -> u64 {
        let address = std::ptr::from_ref(node) as usize;
        let container = matches!(node.data, Data::List(_) | Data::Map(_));
        if container && let Some(&known) = self.known.get(&address) {
            return known;
        }
        let mut hasher = self.keys.build_hasher();
        node.tag.hash(&mut hasher);
        self.data(&node.data, &mut hasher);
        if let Some(other) = &node.yaml11 {
            hasher.write_u8(0xff);
            self.data(other, &mut hasher);
        }
        let hash = hasher.finish();
        if container {
            self.known.insert(address, hash);
        }
        hash
    }

    /// The hash of a value as YAML 1.2 reads it, if it is a scalar; of a container, both readings of what is in it count.
    pub(super) fn as_core(&mut self, node: &Node<'_>) -> u64 {
        if node.yaml11.is_none() {
            return self.of(node);
        }
        let mut hasher = self.keys.build_hasher();
        node.tag.hash(&mut hasher);
        self.data(&node.data, &mut hasher);
        hasher.finish()
    }

    /// The hash of an entry of a map, its key with both of its readings.
    pub(super) fn entry(&mut self, entry: &Entry<'_>) -> u64 {
        let value = self.of(&entry.value);
        let mut hasher = self.keys.build_hasher();
        if self.loose_numbers {
            entry.key.text().hash(&mut hasher);
        } else {
            entry.key.hash(&mut hasher);
        }
        if let Some(other) = &entry.yaml11 {
            other.hash(&mut hasher);
        }
        hasher.write_u64(value);
        hasher.finish()
    }

    /// The hash of a text.
    pub(super) fn text(&self, text: &str) -> u64 {
        self.keys.hash_one(text)
    }

    fn data(&mut self, data: &Data<'_>, hasher: &mut impl std::hash::Hasher) {
        match data {
            Data::Null => hasher.write_u8(0),
            Data::Bool(value) => hasher.write_u8(1 + u8::from(*value)),
            Data::String(text) => {
                hasher.write_u8(3);
                text.hash(hasher);
            }
            Data::Encrypted(text) => {
                hasher.write_u8(4);
                text.hash(hasher);
            }
            Data::Cycle => hasher.write_u8(5),
            Data::Typed(scalar) => {
                let number = matches!(scalar.kind, ScalarKind::Int | ScalarKind::Float | ScalarKind::Number);
                let kind = if number && self.loose_numbers { ScalarKind::Number } else { scalar.kind };
                hasher.write_u8(6);
                kind.hash(hasher);
                match if kind == ScalarKind::Int { None } else { Decimal::parse(scalar.canonical()) } {
                    Some(decimal) if number => {
                        hasher.write_u8(u8::from(decimal.negative));
                        decimal.digits.hash(hasher);
                        hasher.write_i64(decimal.exponent);
                    }
                    None if number => scalar.canonical().trim_start_matches('+').to_ascii_lowercase().hash(hasher),
                    _ => scalar.canonical().hash(hasher),
                }
            }
            Data::List(items) => {
                hasher.write_u8(7);
                hasher.write_usize(items.len());
                for item in items {
                    hasher.write_u64(self.of(item));
                }
            }
            Data::Map(entries) => {
                hasher.write_u8(8);
                hasher.write_usize(entries.len());
                // A sum, because the order of entries says nothing.
                let mut sum = 0_u64;
                for entry in entries {
                    sum = sum.wrapping_add(self.entry(entry));
                }
                hasher.write_u64(sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_decimals() {
        for (a, b) in [("1", "1.0"), ("1e3", "1000.0"), ("-0.0", "0"), ("1_000", "1e+3"), ("0.10", "1e-1")] {
            assert!(same_number(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("9007199254740993", "9007199254740992"),
            ("0.1", "0.10000000000000001"),
            ("1", "-1"),
            ("1e400", "1e401"),
            (".inf", "-.inf"),
            (".nan", "0"),
            ("1e", "1"),
            ("1e99999999999999999999", "1e99999999999999999998"),
        ] {
            assert!(!same_number(a, b), "{a} {b}");
        }
        assert!(same_number(".nan", ".NaN") && same_number("+.inf", ".INF"));
    }
}
