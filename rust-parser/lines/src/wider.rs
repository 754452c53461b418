//! From an expression of Python's `re` to one that any automaton can search for: it matches wherever the other does, and
//! possibly elsewhere. Assertions about the surroundings are left out; what has no equivalent gives no expression.

/// Returns an expression in the syntax of the crate `regex` for ASCII text, which has a match wherever `pattern` has one.
///
/// `None` for an expression with back references, conditions, comments, or letters beyond ASCII.
pub fn wider(pattern: &str) -> Option<String> {
    pattern.is_ascii().then(|| Reader { rest: pattern.as_bytes(), out: String::new(), groups: Vec::new() }.read())?
}

struct Reader<'a> {
    rest: &'a [u8],
    out: String,
    /// For each open group: where an assertion begins, which is left out at its end.
    groups: Vec<Option<usize>>,
}

impl Reader<'_> {
    fn read(mut self) -> Option<String> {
        while let Some(byte) = self.next() {
            match byte {
                b'\\' => self.escape()?,
                b'[' => self.class()?,
                b'(' => self.open()?,
                b')' => self.close()?,
                b'^' | b'$' => self.out.push_str("(?:)"),
                b'{' if self.is_count() => self.out.push('{'),
                b'{' => self.out.push_str(r"\{"),
                _ => self.out.push(char::from(byte)),
            }
        }
        self.groups.is_empty().then_some(self.out)
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Whether a count such as `{2,}` is closed next; any other brace stands for itself.
    fn is_count(&self) -> bool {
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b',').count();
        self.rest[..length].first().is_some_and(u8::is_ascii_digit) && self.rest.get(length) == Some(&b'}')
    }

    fn escape(&mut self) -> Option<()> {
        match self.next()? {
            b'A' | b'Z' => self.out.push_str("(?:)"),
            byte @ (b'b' | b'B' | b'd' | b'D' | b'w' | b'W' | b's' | b'S' | b'n' | b'r' | b't' | b'f' | b'v') => {
                self.push_escaped(byte);
            }
            byte if byte.is_ascii_alphanumeric() => return None,
            byte => self.push_literal(byte),
        }
        Some(())
    }

    fn class(&mut self) -> Option<()> {
        self.out.push('[');
        if self.rest.first() == Some(&b'^') {
            self.next();
            self.out.push('^');
        }
        let mut is_first = true;
        loop {
            match self.next()? {
                b']' if !is_first => break,
                b'\\' => match self.next()? {
                    byte @ (b'd' | b'D' | b'w' | b'W' | b's' | b'S' | b'n' | b'r' | b't' | b'f' | b'v') => {
                        self.push_escaped(byte);
                    }
                    byte if byte.is_ascii_alphanumeric() => return None,
                    byte => self.push_literal(byte),
                },
                byte @ (b'[' | b']' | b'&' | b'~' | b'^') => self.push_literal(byte),
                byte => self.out.push(char::from(byte)),
            }
            is_first = false;
        }
        self.out.push(']');
        Some(())
    }

    fn open(&mut self) -> Option<()> {
        let is_assertion = [&b"?="[..], b"?!", b"?<=", b"?<!"].iter().any(|start| self.rest.starts_with(start));
        self.groups.push(is_assertion.then_some(self.out.len()));
        self.out.push_str("(?");
        if self.rest.first() != Some(&b'?') {
            self.out.push(':');
            return Some(());
        }
        self.next();
        if is_assertion {
            self.out.push(':');
            while self.rest.first().is_some_and(|byte| b"<=!".contains(byte)) {
                let is_last = self.rest.first() != Some(&b'<');
                self.next();
                if is_last {
                    break;
                }
            }
            return Some(());
        }
        match self.next()? {
            b':' | b'>' => self.out.push(':'),
            b'P' if self.rest.first() == Some(&b'<') => {
                let end = self.rest.iter().position(|byte| *byte == b'>')?;
                self.rest = &self.rest[end + 1..];
                self.out.push(':');
            }
            mut flag => loop {
                match flag {
                    b'i' | b'm' | b's' | b'-' => self.out.push(char::from(flag)),
                    b':' => {
                        self.out.push(':');
                        break;
                    }
                    b')' => {
                        self.groups.pop();
                        self.out.push(')');
                        break;
                    }
                    _ => return None,
                }
                flag = self.next()?;
            },
        }
        Some(())
    }

    fn close(&mut self) -> Option<()> {
        if let Some(start) = self.groups.pop()? {
            self.out.truncate(start);
            self.out.push_str("(?:");
        }
        self.out.push(')');
        Some(())
    }

    fn push_escaped(&mut self, byte: u8) {
        self.out.push('\\');
        self.out.push(char::from(byte));
    }

    /// Adds a character that stands for itself; the crate refuses to escape letters, and `\<` is a boundary there.
    fn push_literal(&mut self, byte: u8) {
        if !matches!(byte, b'<' | b'>') {
            self.out.push('\\');
        }
        self.out.push(char::from(byte));
    }
}

#[cfg(test)]
mod tests {
    use super::wider;

    #[test]
    fn leaves_out_what_stands_around_and_keeps_the_rest() {
        for (pattern, expected) in [
            (r"(?<![\w$])(?P<name>a|b)(?!\()x$", r"(?:)(?:a|b)(?:)x(?:)"),
            (r"(?=(a)[)])b", "(?:)b"),
            (r"(?m:^[ \t]*)(?:x )?y", r"(?m:(?:)[ \t]*)(?:x )?y"),
            (r"[]a[&^-]\<{0, 60}a{2,}{", r"[\]a\[\&\^-]<\{0, 60}a{2,}\{"),
            (r"(?i)a\-b", r"(?i)a\-b"),
        ] {
            assert_eq!(wider(pattern).as_deref(), Some(expected), "{pattern}");
        }
    }

    #[test]
    fn gives_nothing_for_what_has_no_equivalent() {
        for pattern in [r"(a)\1", "(?P<x>a)(?P=x)", "(?x)a b", "(?#a)b", "é", r"\u00e9", "(a", "a)", "[a", r"[\b]"] {
            assert_eq!(wider(pattern), None, "{pattern}");
        }
    }
}
