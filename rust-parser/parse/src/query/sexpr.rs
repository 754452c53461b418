//! Reads the text of a `tags.scm` into nested forms: the syntax, without its meaning.

/// A form with its position (`line:column`, 1-based).
#[derive(Debug, Clone)]
pub struct Form {
    pub kind: FormKind,
    pub place: String,
}

/// The syntax of a form.
#[derive(Debug, Clone)]
pub enum FormKind {
    /// `( ... )`
    List(Vec<Form>),
    /// `[ ... ]`
    Alternatives(Vec<Form>),
    /// `"text"`
    Text(String),
    /// `word` or `#word?`
    Word(String),
    /// `word:`
    Field(String),
    /// `!word`
    Absent(String),
    /// `@word`
    Capture(String),
    /// `?`, `*` or `+`
    Quantifier(char),
    /// `.`
    Anchor,
}

/// Largest depth of nested forms.
const MAX_DEPTH: usize = 64;

/// Reads all forms of a text.
///
/// # Errors
/// `line:column: message`
pub fn read_forms(source: &str) -> Result<Vec<Form>, String> {
    let mut reader = Reader { rest: source, line: 1, column: 1 };
    reader.forms(None, 0)
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    column: usize,
}

impl Reader<'_> {
    fn place(&self) -> String {
        format!("{}:{}", self.line, self.column)
    }

    fn advance(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        if next == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(next)
    }

    fn skip_blank(&mut self) {
        while let Some(next) = self.rest.chars().next() {
            if next == ';' {
                while self.rest.chars().next().is_some_and(|c| c != '\n') {
                    self.advance();
                }
            } else if next.is_whitespace() {
                self.advance();
            } else {
                break;
            }
        }
    }

    fn forms(&mut self, close: Option<char>, depth: usize) -> Result<Vec<Form>, String> {
        if depth > MAX_DEPTH {
            return Err(format!("{}: nested too deeply", self.place()));
        }
        let mut forms = Vec::new();
        loop {
            self.skip_blank();
            let place = self.place();
            let Some(next) = self.rest.chars().next() else {
                return match close {
                    None => Ok(forms),
                    Some(bracket) => Err(format!("{place}: missing `{bracket}`")),
                };
            };
            if Some(next) == close {
                self.advance();
                return Ok(forms);
            }
            let kind = self.form(next, &place, depth)?;
            forms.push(Form { kind, place });
        }
    }

    fn form(&mut self, next: char, place: &str, depth: usize) -> Result<FormKind, String> {
        if next == '#' || next == '_' || next.is_alphanumeric() {
            let word = self.word();
            if self.rest.starts_with(':') {
                self.advance();
                return Ok(FormKind::Field(word));
            }
            return Ok(FormKind::Word(word));
        }
        self.advance();
        Ok(match next {
            '(' => FormKind::List(self.forms(Some(')'), depth + 1)?),
            '[' => FormKind::Alternatives(self.forms(Some(']'), depth + 1)?),
            '"' => FormKind::Text(self.text(place)?),
            '@' => FormKind::Capture(self.word()),
            '!' => FormKind::Absent(self.word()),
            '?' | '*' | '+' => FormKind::Quantifier(next),
            '.' => FormKind::Anchor,
            other => return Err(format!("{place}: unexpected `{other}`")),
        })
    }

    /// Reads a word: letters, digits, `_`, `-`, inner `.`, and the `#` and `?` of predicates.
    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(next) = self.rest.chars().next() {
            let predicate = word.starts_with('#') && (next == '?' || next == '!');
            let dot = next == '.' && !word.is_empty();
            if !(next.is_alphanumeric()
                || matches!(next, '_' | '-')
                || (next == '#' && word.is_empty())
                || predicate
                || dot)
            {
                break;
            }
            word.push(next);
            self.advance();
        }
        word
    }

    fn text(&mut self, place: &str) -> Result<String, String> {
        let mut text = String::new();
        loop {
            match self.advance() {
                None => return Err(format!("{place}: unterminated string")),
                Some('"') => return Ok(text),
                Some('\\') => match self.advance() {
                    Some('n') => text.push('\n'),
                    Some(escaped) => text.push(escaped),
                    None => return Err(format!("{place}: unterminated string")),
                },
                Some(other) => text.push(other),
            }
        }
    }
}
