//! Windows of lines: parts of files without definitions.

use serde::{Deserialize, Serialize};

/// What a window of lines contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowKind {
    /// A programming language without a grammar.
    #[default]
    Code,
    /// Configuration or a build file.
    Config,
    /// Markup, a template or a style sheet.
    Markup,
    /// Text for people, such as a licence.
    Text,
}
