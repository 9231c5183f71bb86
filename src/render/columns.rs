//! How many columns of a terminal does a text take, and what of it fits? Width, cuts and breaks for the rich style.
//!
//! Everything here takes text that is escaped already, and counts as terminals do: East Asian scripts and most emoji take
//! two columns, a combining mark none. A wrong guess (terminals differ) costs alignment and nothing else.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Both ends of a text that does not fit, with `…` between.
pub(super) fn middle(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_string();
    }
    let half = room.saturating_sub(1) / 2;
    format!("{}…{}", head(text, room.saturating_sub(1 + half)), tail(text, half))
}

/// The beginning of a text that does not fit, with `…` behind.
pub(super) fn start(text: &str, room: usize) -> String {
    if width(text) <= room { text.to_string() } else { format!("{}…", head(text, room.saturating_sub(1))) }
}

/// Two texts, each cut to `room` around the place where they begin to differ, so that the difference can be seen.
pub(super) fn around_difference(before: &str, after: &str, room: usize) -> (String, String) {
    let same = before.char_indices().zip(after.chars()).find(|((_, a), b)| a != b);
    let at = same.map_or(before.len().min(after.len()), |((at, _), _)| at);
    // A third of the room for what is the same before it.
    let lead = tail(&before[..at], room / 3).len();
    let from = at - lead;
    let cut = |text: &str| {
        if width(text) <= room {
            return text.to_string();
        }
        // Near the end, all of the end is shown.
        let end = tail(text, room.saturating_sub(1));
        if text.len() - end.len() <= from {
            return format!("…{end}");
        }
        if width(&text[..from]) <= 1 {
            return start(text, room);
        }
        format!("…{}", start(&text[from..], room.saturating_sub(1)))
    };
    (cut(before), cut(after))
}

/// Text in lines of at most `room`, broken at blanks where there are some.
pub(super) fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let mut word = word;
        if used > 0 && used + 1 + width(word) > room {
            lines.push(String::new());
            used = 0;
        }
        // A word that is longer than a line is broken where it must be.
        while used == 0 && width(word) > room {
            let piece = head(word, room.max(2));
            if let Some(line) = lines.last_mut() {
                line.push_str(piece);
            }
            word = &word[piece.len()..];
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += width(word);
        }
    }
    lines
}

/// As much of the beginning as fits. A combining mark stays with its letter.
fn head(text: &str, room: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > room {
            return &text[..at];
        }
    }
    text
}

/// As much of the end as fits. It begins with no combining mark, which would stand on what is before it.
fn tail(text: &str, room: usize) -> &str {
    let mut used = 0;
    let mut from = text.len();
    for (at, c) in text.char_indices().rev() {
        let columns = c.width().unwrap_or(0);
        used += columns;
        if used > room {
            break;
        }
        if columns > 0 {
            from = at;
        }
    }
    &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_a_terminal() {
        for (text, columns) in [("abc", 3), ("東京", 4), ("e\u{301}", 1), ("🙂", 2), ("✅", 2), ("ｱ", 1), ("한국", 4)]
        {
            assert_eq!(width(text), columns, "{text}");
        }
    }

    #[test]
    fn what_is_cut_fits() {
        for text in
            ["abcdefghijklmnop", "東京東京東京東京", "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}x", "🙂🙂🙂🙂🙂"]
        {
            for room in 3..12 {
                assert!(width(&middle(text, room)) <= room, "{} in {room}", middle(text, room));
                assert!(width(&start(text, room)) <= room, "{} in {room}", start(text, room));
                let other = text.replace(['p', '🙂'], "q");
                let (a, b) = around_difference(text, &other, room);
                assert!(width(&a) <= room && width(&b) <= room, "{a} {b} in {room}");
            }
        }
        assert_eq!(middle("abcdefghij", 5), "ab…ij");
        assert_eq!(start("abc", 3), "abc");
    }

    #[test]
    fn the_difference_is_shown_wherever_it_is() {
        let long = "x".repeat(40);
        let texts = (format!("{long}OLD{long}"), format!("{long}NEW{long}"));
        let (before, after) = around_difference(&texts.0, &texts.1, 20);
        assert!(before.contains("OLD") && after.contains("NEW"), "{before} {after}");
        let (before, after) = around_difference(&long, &format!("{long}NEW"), 20);
        assert!(before.ends_with('x') && after.ends_with("NEW"), "{before} {after}");
        let (before, after) = around_difference(&format!("OLD{long}"), &format!("NEW{long}"), 20);
        assert!(before.starts_with("OLD") && after.starts_with("NEW"), "{before} {after}");
        assert_eq!(around_difference("same", "same!", 20), ("same".into(), "same!".into()));
    }

    #[test]
    fn text_is_wrapped_at_blanks() {
        assert_eq!(wrapped("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrapped("aaaaaaaa b", 5), ["aaaaa", "aaa b"]);
    }
}
