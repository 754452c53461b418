//! The body of an entity: its list items are observations, the rest is prose about it.
//!
//! An item is `- 2026-11-20T09:00:00Z [o-<ULID>] Text. (client: name)`; time, id and client may be missing. It extends
//! over indented lines and over the lines of its first paragraph. Items inside code blocks are no observations.

use super::fields::{is_id, is_time};
use crate::markdown::lines::line_end;

/// Largest number of observations of an entity.
pub const MAX_OBSERVATIONS: usize = 10_000;

/// One item of the list, without its line break characters at the end.
#[derive(Debug, PartialEq)]
pub struct Observation {
    /// The id as written, or "".
    pub id: String,
    pub created: String,
    pub text: String,
    pub client: String,
    /// Bytes of its lines, with the last line break.
    pub start: usize,
    pub end: usize,
}

/// What a body consists of.
#[derive(Debug, Default)]
pub struct Body {
    pub observations: Vec<Observation>,
    /// The lines that belong to no observation.
    pub prose: String,
    /// Start of the first item that is left out because there are too many.
    pub cut_at: Option<usize>,
}

/// Reads the body that starts at a byte of a note.
pub fn read(source: &[u8], body: usize) -> Body {
    let mut reader = Reader::default();
    let mut start = body;
    while start < source.len() {
        let end = source.len().min(line_end(source, start) + 1);
        reader.line(&String::from_utf8_lossy(&source[start..end]), start, end);
        start = end;
    }
    reader.finish_item();
    reader.body.prose = reader.body.prose.trim().to_owned();
    reader.body
}

#[derive(Default)]
struct Reader {
    body: Body,
    item: Option<Item>,
    /// The fence of an open code block.
    fence: Option<&'static str>,
}

struct Item {
    start: usize,
    end: usize,
    text: String,
    /// Whether blank lines follow that belong to the item only if it continues.
    is_interrupted: bool,
}

impl Reader {
    fn line(&mut self, line: &str, start: usize, end: usize) {
        let line = line.trim_end();
        let fence = ["```", "~~~"].into_iter().find(|fence| line.trim_start().starts_with(fence));
        if self.item.is_some() {
            if self.continues(line) {
                self.toggle(fence);
                if let Some(item) = &mut self.item {
                    item.text.push_str(if item.is_interrupted { "\n\n" } else { "\n" });
                    item.text.push_str(line.trim());
                    item.end = end;
                    item.is_interrupted = false;
                }
                return;
            }
            if line.is_empty() {
                if let Some(item) = &mut self.item {
                    item.is_interrupted = true;
                }
                return;
            }
            self.finish_item();
            self.fence = None;
        }
        if self.fence.is_none()
            && let Some(text) = item_text(line)
        {
            self.item = Some(Item { start, end, text: text.trim().to_owned(), is_interrupted: false });
            return;
        }
        self.toggle(fence);
        self.body.prose.push_str(line);
        self.body.prose.push('\n');
    }

    fn toggle(&mut self, fence: Option<&'static str>) {
        match self.fence {
            None => self.fence = fence,
            Some(open) if fence == Some(open) => self.fence = None,
            Some(_) => {}
        }
    }

    /// Returns whether a line with text continues the current item.
    fn continues(&self, line: &str) -> bool {
        let is_interrupted = self.item.as_ref().is_some_and(|item| item.is_interrupted);
        if line.is_empty() {
            return false;
        }
        if line.starts_with("  ") || line.starts_with('\t') {
            return true;
        }
        let opens_block = line.starts_with(['#', '>', '`', '~']) || item_text(line).is_some() || is_rule(line);
        !is_interrupted && self.fence.is_none() && !opens_block
    }

    fn finish_item(&mut self) {
        let Some(item) = self.item.take() else { return };
        if item.text.is_empty() {
            return;
        }
        if self.body.observations.len() == MAX_OBSERVATIONS {
            self.body.cut_at.get_or_insert(item.start);
            return;
        }
        self.body.observations.push(observation(&item));
    }
}

/// Returns the text after the mark of a list item that is not indented.
fn item_text(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['-', '*', '+'])?;
    let is_item = rest.is_empty() || rest.starts_with([' ', '\t']);
    (is_item && !is_rule(line)).then_some(rest)
}

/// Recognizes a thematic break: `---`, `* * *`.
fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|mark| !mark.is_whitespace());
    let first = marks.next();
    matches!(first, Some('-' | '*' | '_')) && marks.clone().count() >= 2 && marks.all(|mark| Some(mark) == first)
}

fn observation(item: &Item) -> Observation {
    let (created, rest) = match item.text.split_once(char::is_whitespace) {
        Some((time, rest)) if is_time(time) => (time, rest.trim_start()),
        _ => ("", item.text.as_str()),
    };
    let (id, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((id, text)) if is_id(id, "o-") => (id, text.trim_start()),
        _ => ("", rest),
    };
    let (text, client) = match rest.strip_suffix(')').and_then(|rest| rest.rsplit_once("(client: ")) {
        Some((text, client)) if !client.contains('\n') => (text.trim_end(), client.trim()),
        _ => (rest, ""),
    };
    Observation {
        id: id.to_owned(),
        created: created.to_owned(),
        text: text.to_owned(),
        client: client.to_owned(),
        start: item.start,
        end: item.end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(body: &str) -> Vec<String> {
        read(body.as_bytes(), 0).observations.into_iter().map(|one| one.text).collect()
    }

    #[test]
    fn parts_of_an_item() {
        let id = "o-01JD2V9Q7KZZZZZZZZZZZZZZZZ";
        let line = format!("- 2026-11-20T09:00:00Z [{id}] Releases on (most) Thursdays. (client: cursor 1.0 (x))\n");
        let body = read(line.as_bytes(), 0);
        let expected = Observation {
            id: id.to_owned(),
            created: "2026-11-20T09:00:00Z".to_owned(),
            text: "Releases on (most) Thursdays.".to_owned(),
            client: "cursor 1.0 (x)".to_owned(),
            start: 0,
            end: line.len(),
        };
        assert_eq!(body.observations, [expected]);
        let bare = read(b"* [ ] 2026 was good", 0);
        assert_eq!((bare.observations[0].id.as_str(), bare.observations[0].text.as_str()), ("", "[ ] 2026 was good"));
    }

    #[test]
    fn extent_of_items() {
        assert_eq!(texts("- a\nlazy\n  more\n\n  second\n- b\n"), ["a\nlazy\nmore\n\nsecond", "b"]);
        assert_eq!(texts("- a\n  - nested\n+ b\n* * *\n- \n---\n"), ["a\n- nested", "b"]);
        assert_eq!(texts("```\n- code\n```\n- a\n  ```\n- b"), ["a\n```", "b"]);
        let body = read(b"# H\n\n- a\r\n\r\nProse.\n-no item\n", 0);
        assert_eq!(body.prose, "# H\n\nProse.\n-no item");
        assert_eq!((body.observations[0].start, body.observations[0].end), (5, 10));
    }

    #[test]
    fn number_is_limited() {
        let body = read("- a\n".repeat(MAX_OBSERVATIONS + 2).as_bytes(), 0);
        assert_eq!((body.observations.len(), body.cut_at), (MAX_OBSERVATIONS, Some(MAX_OBSERVATIONS * 4)));
    }
}
