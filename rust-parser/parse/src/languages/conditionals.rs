//! Conditional compilation inside of statements (`#if`, `#else`, `#endif`): a grammar reads such a group only if each
//! branch is whole. Of the others, the first branch is kept and the directives become blanks.

use std::ops::Range;

/// Largest number of bytes of the branches that are left out: longer ones hold definitions of their own.
const MAX_DROPPED: usize = 1000;

/// What one branch holds.
#[derive(Default, Clone, Copy)]
struct Branch {
    braces: i32,
    parentheses: i32,
    lowest: i32,
    first: Option<usize>,
    last: Option<usize>,
}

struct Group {
    directives: Vec<Range<usize>>,
    is_broken: bool,
    is_off: bool,
    /// The branch around the group, as it was before.
    around: Branch,
    /// The first branch that is not off.
    kept: Option<Branch>,
}

struct Reader<'s> {
    source: &'s [u8],
    groups: Vec<Group>,
    now: Branch,
    blanks: Vec<Range<usize>>,
    /// Whether branches of whole elements of a list are divided, too.
    divides_lists: bool,
}

/// Returns the text without conditionals that divide a statement; `None` if there are none.
pub fn flattened(source: &[u8]) -> Option<Vec<u8>> {
    without_divided(source, false)
}

/// Returns the text also without conditionals around elements of a list: `{ a, #if X ... b, #endif }`.
pub fn flattened_lists(source: &[u8]) -> Option<Vec<u8>> {
    without_divided(source, true)
}

fn without_divided(source: &[u8], divides_lists: bool) -> Option<Vec<u8>> {
    let mut reader = Reader { source, groups: Vec::new(), now: Branch::default(), blanks: Vec::new(), divides_lists };
    let (mut at, mut is_start) = (0, true);
    while at < source.len() {
        let rest = &source[at..];
        let byte = rest[0];
        let length = match byte {
            b'#' if is_start => reader.directive(at),
            b'/' if rest.starts_with(b"//") => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            b'/' if rest.starts_with(b"/*") => memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2),
            b'"' | b'\'' => {
                let length = literal_length(rest);
                reader.note(at, at + length - 1);
                length
            }
            _ => {
                if !byte.is_ascii_whitespace() {
                    reader.note(at, at);
                }
                1
            }
        };
        is_start = source[at + length - 1] == b'\n' || is_start && byte.is_ascii_whitespace();
        at += length;
    }
    if reader.blanks.is_empty() {
        return None;
    }
    let mut text = source.to_vec();
    for range in reader.blanks {
        text[range].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
    Some(text)
}

impl Reader<'_> {
    /// Records that code is at a range.
    fn note(&mut self, first: usize, last: usize) {
        match self.source[first] {
            b'{' => self.now.braces += 1,
            b'}' => self.now.braces -= 1,
            b'(' => self.now.parentheses += 1,
            b')' => self.now.parentheses -= 1,
            _ => {}
        }
        self.now.lowest = self.now.lowest.min(self.now.braces).min(self.now.parentheses);
        self.now.first.get_or_insert(first);
        self.now.last = Some(last);
    }

    /// Reads a directive; returns its length with the lines that continue it.
    fn directive(&mut self, at: usize) -> usize {
        let rest = &self.source[at..];
        let mut end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        while rest[..end].trim_ascii_end().ends_with(b"\\") && end < rest.len() {
            end += 1 + memchr::memchr(b'\n', &rest[end + 1..]).unwrap_or(rest.len() - end - 1);
        }
        let line = rest[1..end].trim_ascii();
        let length = line.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let range = at..at + end;
        match &line[..length] {
            b"if" | b"ifdef" | b"ifndef" => self.open(range, line[length..].trim_ascii() == b"0"),
            b"elif" | b"else" | b"elseif" => self.divide(range),
            b"endif" => self.close(range),
            _ => {}
        }
        end
    }

    fn open(&mut self, range: Range<usize>, is_off: bool) {
        let around = std::mem::take(&mut self.now);
        let is_inside = around.last.is_some_and(|last| self.goes_on(last));
        let group = Group { directives: vec![range], is_broken: is_inside, is_off, around, kept: None };
        self.groups.push(group);
    }

    fn divide(&mut self, range: Range<usize>) {
        let branch = std::mem::take(&mut self.now);
        let is_broken = self.is_broken(&branch);
        if let Some(group) = self.groups.last_mut() {
            group.is_broken |= is_broken;
            if !group.is_off || group.directives.len() > 1 {
                group.kept.get_or_insert(branch);
            }
            group.directives.push(range);
        } else {
            self.now = branch;
        }
    }

    fn close(&mut self, range: Range<usize>) {
        if self.groups.is_empty() {
            return;
        }
        self.divide(range);
        let Some(group) = self.groups.pop() else {
            return;
        };
        self.now = group.around;
        if let Some(kept) = group.kept {
            self.now.braces += kept.braces;
            self.now.parentheses += kept.parentheses;
            self.now.lowest = self.now.lowest.min(self.now.braces).min(self.now.parentheses);
            self.now.first = self.now.first.or(kept.first);
            self.now.last = kept.last.or(self.now.last);
        }
        if group.is_broken {
            let lines = group.directives;
            if lines[lines.len() - 1].start.saturating_sub(lines[1].end) > MAX_DROPPED {
                return;
            }
            // The kept branch lies between the directives `start` and `start + 1`.
            let start = usize::from(group.is_off).min(lines.len() - 1);
            let end = (start + 1).min(lines.len() - 1);
            self.blanks.push(lines[0].start..lines[start].end);
            self.blanks.push(lines[end].start..lines[lines.len() - 1].end);
        }
    }

    /// Returns whether a statement goes on after the code that ends at a place.
    fn goes_on(&self, last: usize) -> bool {
        self.now.parentheses > 0 || !matches!(self.source[last], b';' | b'{' | b'}' | b':' | b',' | b')' | b']')
    }

    /// Returns whether a branch is no sequence of statements.
    fn is_broken(&self, branch: &Branch) -> bool {
        let (Some(first), Some(last)) = (branch.first, branch.last) else {
            return false;
        };
        let rest = &self.source[first..];
        let words: [&[u8]; 3] = [b"else", b"catch", b"finally"];
        self.divides_lists && self.source[last] == b','
            || branch.braces != 0
            || branch.parentheses != 0
            || branch.lowest < 0
            || matches!(rest[0], b'&' | b'|' | b'+' | b',' | b')' | b'?' | b':' | b'=' | b'.' | b'<' | b'"')
            || words.iter().any(|word| rest.starts_with(word))
            || !matches!(self.source[last], b';' | b'}' | b':' | b',' | b']')
    }
}

/// Returns the length of a string or character literal on one line.
fn literal_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 1,
            b'\n' => return at,
            byte if byte == rest[0] => return at + 1,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::flattened;

    fn text(source: &str) -> Option<String> {
        flattened(source.as_bytes()).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn groups_of_whole_statements_stay() {
        assert_eq!(text("#ifdef A\nint a;\n#else\nvoid f() { }\n#endif\n"), None);
        assert_eq!(text("int a;\n#if X\n// only a comment: {\n#endif\n"), None);
    }

    #[test]
    fn the_first_branch_of_a_divided_statement_is_kept() {
        let source = "#if A\nif (a) {\n#elif B\nif (b) {\n#else\nif (c) {\n#endif\n}\n";
        assert_eq!(text(source).unwrap().split_whitespace().collect::<Vec<_>>(), ["if", "(a)", "{", "}"]);
        assert_eq!(text(source).unwrap().len(), source.len());
    }

    #[test]
    fn a_branch_that_is_off_is_not_kept() {
        let source = "f(1\n#if 0\n, 2\n#endif\n);\n";
        assert_eq!(text(source).unwrap().split_whitespace().collect::<Vec<_>>(), ["f(1", ");"]);
    }

    #[test]
    fn elements_of_a_list_stay_without_their_directives() {
        let source = "a = {\n1,\n#if X\n2,\n#endif\n};\n";
        assert_eq!(text(source), None);
        let flat = String::from_utf8(super::flattened_lists(source.as_bytes()).unwrap()).unwrap();
        assert_eq!(flat.split_whitespace().collect::<Vec<_>>(), ["a", "=", "{", "1,", "2,", "};"]);
    }

    #[test]
    fn groups_inside_a_divided_group_go_with_it() {
        let source = "if (a &&\n#ifdef A\n#ifdef B\nb &&\n#endif\nc)\n#else\nd)\n#endif\nf();\n";
        assert_eq!(
            text(source).unwrap().split_whitespace().collect::<Vec<_>>(),
            ["if", "(a", "&&", "b", "&&", "c)", "f();"]
        );
    }
}
