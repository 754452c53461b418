//! How similar texts are to a question: texts of files by the model of prose, names and texts by the model of code.

use super::{Model, ProseModel, ProseScratch, Scratch, half_bytes};
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

/// Returns how similar each name with its text is to the question by the model of code, in their order; nothing if the
/// model knows no word of the question, 0 for one of which it knows none.
pub fn code_cosines<N: AsRef<str>, T: AsRef<str>>(model: &Model, question: &str, named: &[(N, T)]) -> Vec<f64> {
    let mut scratch = Scratch::new(model);
    let asked: Vec<u8> = model.query(&mut scratch, question).iter().flat_map(|value| value.to_le_bytes()).collect();
    let Some(asked) = ExactQuery::new(&asked) else { return Vec::new() };
    let mut cosine = |(name, text): &(N, T)| {
        let text = cut(text.as_ref(), MAX_MEANT);
        let cosine = asked.cosine(&half_bytes(model.chunk(&mut scratch, text, name.as_ref(), false)));
        if cosine.is_finite() { cosine } else { 0.0 }
    };
    named.iter().map(&mut cosine).collect()
}
