//! How similar texts of files are to a question, by the model of prose.

use super::{ProseModel, ProseScratch, half_bytes};
use crate::tokens::cut;
use crate::vectors::ExactQuery;

/// Characters of a text that the model reads.
const MAX_MEANT: usize = 1500;

/// Returns how similar each text is to the question by a model that reads its path as well, in the order of the texts;
/// nothing if the model knows no word of the question, 0 for a text of which it knows none.
pub fn cosines<P: AsRef<str>, T: AsRef<str>>(model: &ProseModel, question: &str, files: &[(P, Vec<T>)]) -> Vec<f64> {
    let mut scratch = ProseScratch::default();
    let asked: Vec<u8> = model.encode(&mut scratch, question).iter().flat_map(|value| value.to_le_bytes()).collect();
    let Some(asked) = ExactQuery::new(&asked) else { return Vec::new() };
    let mut cosines = Vec::new();
    for (path, texts) in files {
        let path = path.as_ref();
        let of_path = model.tokens(path);
        for text in texts {
            let text = cut(text.as_ref(), MAX_MEANT);
            let vector = match path.len() + 2 + MAX_MEANT <= model.max_chars() {
                true => model.encode_after(&mut scratch, &of_path, text),
                false => model.encode(&mut scratch, &format!("{path}. {text}")),
            };
            let cosine = asked.cosine(&half_bytes(vector));
            cosines.push(if cosine.is_finite() { cosine } else { 0.0 });
        }
    }
    cosines
}
