//! JSON with positions: an object as its members in source order, each value as its text, which is part of the file's.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::reader::Lines;

/// The members of an object in source order; empty for any other value.
#[derive(Default)]
pub struct Object<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

/// The elements of an array.
struct Array<'a>(Vec<&'a RawValue>);

/// A JSON document, or a part of it.
#[derive(Clone, Copy)]
pub struct Json<'a> {
    lines: &'a Lines,
    whole: &'a str,
    part: &'a str,
}

impl<'a> Json<'a> {
    /// Checks the whole document.
    ///
    /// # Errors
    /// The line and the reason, or a document that is not an object.
    pub fn parse(text: &'a str, lines: &'a Lines) -> Result<Json<'a>, (u32, String)> {
        match serde_json::from_str::<Object>(text) {
            Ok(_) => Ok(Json { lines, whole: text, part: text }),
            Err(error) => Err((error.line().max(1) as u32, format!("no JSON object: {error}"))),
        }
    }

    /// Returns the members of an object, each with its line.
    pub fn members(self) -> Vec<(Cow<'a, str>, Json<'a>, u32)> {
        let Object(members) = serde_json::from_str(self.part).unwrap_or_default();
        let members = members.into_iter().map(|(key, value)| {
            let value = Json { part: value.get(), ..self };
            let line = value.line();
            (key, value, line)
        });
        members.collect()
    }

    pub fn get(self, key: &str) -> Option<Json<'a>> {
        self.members().into_iter().rev().find(|(name, ..)| name == key).map(|(_, value, _)| value)
    }

    pub fn items(self) -> Vec<Json<'a>> {
        let found = serde_json::from_str::<Array>(self.part).map(|list| list.0).unwrap_or_default();
        found.into_iter().map(|value| Json { part: value.get(), ..self }).collect()
    }

    pub fn text(self) -> Option<String> {
        serde_json::from_str(self.part).ok()
    }

    pub fn is_true(self) -> bool {
        self.part == "true"
    }

    /// Returns the text of a member.
    pub fn text_of(self, key: &str) -> Option<String> {
        self.get(key)?.text()
    }

    pub fn line(self) -> u32 {
        self.lines.line((self.part.as_ptr() as usize).saturating_sub(self.whole.as_ptr() as usize))
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Key(key), value)) = map.next_entry::<Key, &RawValue>()? {
                    members.push((key, value));
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl<'de> Deserialize<'de> for Array<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items;
        impl<'de> Visitor<'de> for Items {
            type Value = Array<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element::<&RawValue>()? {
                    items.push(item);
                }
                Ok(Array(items))
            }
        }
        deserializer.deserialize_seq(Items)
    }
}

/// A key, borrowed unless it contains escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_lines_and_keep_their_order() {
        let text = "{\n\t\"b\": {\"x\\u0041\": \"1\"},\n\n\t\"a\": [\"p\", true]}";
        let lines = Lines::of(text);
        let json = Json::parse(text, &lines).ok().unwrap();
        let members: Vec<_> = json.members().into_iter().map(|(key, _, line)| (key.into_owned(), line)).collect();
        assert_eq!(members, [("b".to_owned(), 2), ("a".to_owned(), 4)]);
        assert_eq!(json.get("b").unwrap().text_of("xA").as_deref(), Some("1"));
        assert_eq!(json.get("a").unwrap().items()[0].line(), 4);
    }

    #[test]
    fn damaged_documents_name_the_line() {
        let failed = |text: &str| Json::parse(text, &Lines::of(text)).err().map(|(line, _)| line);
        assert_eq!(failed("{\n\"a\": }"), Some(2));
        assert!(failed("[]").is_some() && failed("").is_some());
        assert!(failed(&"[".repeat(100_000)).is_some());
    }

    #[test]
    fn deep_values_that_nobody_reads_take_no_stack() {
        let text = format!("{{\"a\": {}1{}, \"b\": \"2\"}}", "[".repeat(100_000), "]".repeat(100_000));
        let lines = Lines::of(&text);
        let json = Json::parse(&text, &lines).ok().unwrap();
        assert_eq!(json.get("a").unwrap().items().len(), 1);
        assert_eq!(json.text_of("b").as_deref(), Some("2"));
    }
}
