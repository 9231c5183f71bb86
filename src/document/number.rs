//! What is this integer in decimal? For the formats that write integers in other bases.

use std::borrow::Cow;

/// An integer as `[+-]`, `0x`, `0o`, `0b` or nothing, then digits, `_` between them ignored: as decimal digits, `-` before
/// them, no leading zeros. `-0` is `0`.
///
/// Beyond 256 digits of another base the text stays as it is: converting costs the square of the length.
pub(super) fn to_decimal(source: &str) -> Cow<'_, str> {
    let unsigned = source.strip_prefix(['+', '-']).unwrap_or(source);
    let negative = source.starts_with('-');
    let radix = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => 16,
        [b'0', b'o' | b'O', ..] => 8,
        [b'0', b'b' | b'B', ..] => 2,
        _ => 10,
    };
    let digits = if radix == 10 { unsigned } else { &unsigned[2..] };
    in_radix(source, digits, negative, radix)
}

/// As [`to_decimal`], for digits whose base is known.
pub(super) fn in_radix<'a>(source: &'a str, digits: &str, negative: bool, radix: u32) -> Cow<'a, str> {
    let digits: Cow<'_, str> =
        if digits.contains('_') { Cow::Owned(digits.replace('_', "")) } else { Cow::Borrowed(digits) };
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Cow::Borrowed("0");
    }
    let magnitude = match radix {
        10 if digits.len() + usize::from(negative) == source.len() => return Cow::Borrowed(source),
        10 => digits.to_string(),
        _ => match u128::from_str_radix(digits, radix) {
            Ok(value) => value.to_string(),
            Err(_) if digits.len() <= 256 => long(digits, radix),
            Err(_) => return Cow::Borrowed(source),
        },
    };
    Cow::Owned(if negative { format!("-{magnitude}") } else { magnitude })
}

/// Schoolbook conversion, nine decimal digits at a time.
fn long(digits: &str, radix: u32) -> String {
    let mut groups: Vec<u64> = vec![0];
    for digit in digits.chars().filter_map(|c| c.to_digit(radix)) {
        let mut carry = u64::from(digit);
        for group in &mut groups {
            let value = *group * u64::from(radix) + carry;
            *group = value % 1_000_000_000;
            carry = value / 1_000_000_000;
        }
        if carry > 0 {
            groups.push(carry);
        }
    }
    let mut groups = groups.into_iter().rev();
    let mut out = groups.next().unwrap_or_default().to_string();
    groups.for_each(|group| out.push_str(&format!("{group:09}")));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_base_comes_out_in_decimal() {
        for (source, decimal) in [
            ("0", "0"),
            ("-0", "0"),
            ("007", "7"),
            ("+12", "12"),
            ("-12", "-12"),
            ("1_000", "1000"),
            ("0x1F", "31"),
            ("-0x1F", "-31"),
            ("0o17", "15"),
            ("0b1010_1010", "170"),
            ("0xffffffffffffffffffffffffffffffff", "340282366920938463463374607431768211455"),
            ("0x100000000000000000000000000000000", "340282366920938463463374607431768211456"),
            ("12345678901234567890123", "12345678901234567890123"),
        ] {
            assert_eq!(to_decimal(source), decimal, "{source}");
        }
        let huge = format!("0x1{}", "0".repeat(1_000_000));
        assert_eq!(to_decimal(&huge), huge);
    }
}
