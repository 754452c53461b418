//! What JavaScript and TypeScript say that patterns cannot.

use super::code::LanguageCode;

pub struct Ecmascript;

impl LanguageCode for Ecmascript {}
