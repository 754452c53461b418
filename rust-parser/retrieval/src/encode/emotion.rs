//! The emotion model: a linear multi-label classifier over words and adjacent word pairs. For each label
//! `p = sigmoid(bias + scale * sum over features of x * weight)`, where `x = idf * sqrt(count)`, L2-normalised.

use std::path::Path;

use serde_json::Value;

use super::npy;
use super::table::{mismatch, missing, normalise, read_meta, read_vocabulary};
use super::vocabulary::Vocabulary;

/// What precedes the first word of a text in its first pair.
const START: &str = "<s>";
/// Probabilities are kept this far from 0 and 1, so that their log-odds are finite.
const MARGIN: f32 = 1e-6;

/// A classifier of emotions. The last label is the neutral one.
pub struct EmotionModel {
    pub name: String,
    pub labels: Vec<String>,
    bias: Vec<f32>,
    scale: Vec<f32>,
    thresholds: Vec<f32>,
    rows: Vocabulary,
    idf: Vec<f32>,
    weights: Vec<i8>,
}

impl EmotionModel {
    /// Reads a model folder.
    ///
    /// # Errors
    /// The damaged file and the reason.
    pub fn load(folder: &Path) -> Result<Self, String> {
        let meta = read_meta(folder)?;
        let (count, labels, weights) = npy::read(&folder.join("weights.npy"), "|i1", 1)?;
        let (idfs, _, idf) = npy::read(&folder.join("idf.npy"), "<f4", 4)?;
        let rows = read_vocabulary(folder)?;
        let list = |key: &str| meta[key].as_array().ok_or_else(|| missing(folder, key));
        let floats = |key: &str| -> Result<Vec<f32>, String> {
            Ok(list(key)?.iter().filter_map(Value::as_f64).map(|value| value as f32).collect())
        };
        let model = Self {
            name: meta["name"].as_str().ok_or_else(|| missing(folder, "name"))?.to_owned(),
            labels: list("labels")?.iter().filter_map(|label| Some(label.as_str()?.to_owned())).collect(),
            bias: floats("bias")?,
            scale: floats("scale")?,
            thresholds: floats("thresholds")?,
            rows,
            idf: npy::floats(&idf),
            weights: weights.into_iter().map(|byte| byte as i8).collect(),
        };
        let widths = [model.labels.len(), model.bias.len(), model.scale.len(), model.thresholds.len()];
        if labels == 0 || idfs != count || model.rows.count() != count || widths != [labels; 4] {
            return Err(mismatch(folder));
        }
        Ok(model)
    }

    /// Returns one probability per label. A text without a known word gets the label frequencies of the training data.
    pub fn probabilities(&self, text: &str) -> Vec<f32> {
        let labels = self.labels.len();
        let mut rows = self.features(text);
        rows.sort_unstable();
        let (distinct, mut x): (Vec<usize>, Vec<f32>) = rows
            .chunk_by(|left, right| left == right)
            .map(|same| (same[0] as usize, self.idf[same[0] as usize] * (same.len() as f32).sqrt()))
            .unzip();
        normalise(&mut x);
        let mut sums = vec![0.0; labels];
        for (row, x) in distinct.into_iter().zip(x) {
            for (sum, weight) in sums.iter_mut().zip(&self.weights[row * labels..(row + 1) * labels]) {
                *sum += x * f32::from(*weight);
            }
        }
        let logits = sums.iter().zip(&self.scale).zip(&self.bias).map(|((sum, scale), bias)| bias + sum * scale);
        logits.map(|logit| 1.0 / (1.0 + (-logit).exp())).collect()
    }

    /// Returns the emotional vector: the log-odds of each emotion above those of half its threshold, L2-normalised. All
    /// zeros if no emotion rises above half its threshold.
    pub fn encode(&self, text: &str) -> Vec<f32> {
        let inside = |p: f32| p.clamp(MARGIN, 1.0 - MARGIN);
        let emotions = self.labels.len() - 1;
        let mut vector: Vec<f32> = self.probabilities(text)[..emotions]
            .iter()
            .zip(&self.thresholds)
            .map(|(&p, &threshold)| {
                let (p, threshold) = (inside(p), inside(threshold));
                ((p / (1.0 - p)).ln() - (threshold / (2.0 - threshold)).ln()).max(0.0)
            })
            .collect();
        normalise(&mut vector);
        vector
    }

    /// Returns the rows of the words and of the pairs of adjacent words that the vocabulary has.
    fn features(&self, text: &str) -> Vec<u32> {
        let text = text.replace('\u{2019}', "'").to_lowercase();
        let mut rows = Vec::new();
        let mut pair = String::new();
        let mut previous = START;
        for word in Words(&text) {
            rows.extend(self.rows.row(word.as_bytes()));
            pair.clear();
            pair.extend([previous, " ", word]);
            rows.extend(self.rows.row(pair.as_bytes()));
            previous = word;
        }
        rows
    }
}

/// Iterates over the words of a text in lower case by the rule
/// `[a-z]+(?:'[a-z]+)?|[!?]+|[\u1F300-\u1FAFF\u2600-\u27BF]|[:;]-?[()DPp/]|<3`; of a run of `!` or `?` at most two
/// characters of the first kind are kept.
struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            let rest = self.0;
            let first = rest.chars().next()?;
            let length = word_length(rest, first);
            let (word, after) = rest.split_at(if length == 0 { first.len_utf8() } else { length });
            self.0 = after;
            match (first, length) {
                (_, 0) => {}
                ('!', 1) => return Some("!"),
                ('?', 1) => return Some("?"),
                ('!', _) => return Some("!!"),
                ('?', _) => return Some("??"),
                _ => return Some(word),
            }
        }
    }
}

/// Returns the number of bytes of the word at the beginning of a text, 0 if there is none.
fn word_length(text: &str, first: char) -> usize {
    let bytes = text.as_bytes();
    let run = |from: usize, test: fn(&u8) -> bool| bytes[from..].iter().take_while(|byte| test(byte)).count();
    match first {
        'a'..='z' => {
            let length = run(0, u8::is_ascii_lowercase);
            match bytes.get(length) {
                Some(b'\'') => match run(length + 1, u8::is_ascii_lowercase) {
                    0 => length,
                    suffix => length + 1 + suffix,
                },
                _ => length,
            }
        }
        '!' | '?' => run(0, |byte| matches!(byte, b'!' | b'?')),
        '\u{1f300}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' => first.len_utf8(),
        ':' | ';' => {
            let mouth = 1 + usize::from(bytes.get(1) == Some(&b'-'));
            if matches!(bytes.get(mouth), Some(b'(' | b')' | b'p' | b'/')) { mouth + 1 } else { 0 }
        }
        '<' if bytes.get(1) == Some(&b'3') => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn words_are_letters_marks_and_emoticons() {
        let words = |text: &'static str| Words(text).collect::<Vec<_>>().join(" ");
        assert_eq!(words("i'm so happy' 'twas o'clock's"), "i'm so happy twas o'clock s");
        assert_eq!(words("why?! no!!!! yes! ?"), "why ?? no !! yes ! ?");
        assert_eq!(words(":-) ;p :x <3 <4 \u{1f60d}\u{2764} é"), ":-) ;p x <3 \u{1f60d} \u{2764}");
        assert_eq!(words(":-"), "");
    }
}
