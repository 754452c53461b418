//! The folder of notes, which is scanned although its name may begin with a dot. Works on paths only.

/// The path of the folder below the root; "" for none.
pub struct NoteFolder<'a>(pub &'a str);

impl NoteFolder<'_> {
    /// Returns whether a folder is that of the notes.
    pub fn is(&self, path: &str) -> bool {
        !path.is_empty() && path == self.0
    }

    /// Returns whether a folder is that of the notes, contains it or is below it.
    pub fn is_related(&self, path: &str) -> bool {
        self.is(path) || self.0.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')) || self.has(path)
    }

    /// Returns whether the path is that of a note.
    pub fn has_note(&self, path: &str) -> bool {
        path.ends_with(".md") && self.has(path)
    }

    fn has(&self, path: &str) -> bool {
        !self.0.is_empty() && path.strip_prefix(self.0).is_some_and(|rest| rest.starts_with('/'))
    }
}
