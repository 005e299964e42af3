//! What an application found.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// An answer: named values, and for some applications a histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Numbers and truths by name, in the order in which they are shown.
    pub values: Map<String, Value>,
    /// What depends on how many nodes there are, shown after the values: two runs on different ones need not agree here.
    pub layout: Map<String, Value>,
    /// How many of what has which value.
    pub histogram: Option<Histogram>,
    /// What goes into the files that the application was asked for, in their order.
    pub files: Vec<Vec<u8>>,
}

/// Counts by a whole number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// What the whole number is, for example `energy`.
    pub of: &'static str,
    /// What is counted, for example `foldings`.
    pub count: &'static str,
    /// What it is about, for the title of a picture.
    pub title: String,
    /// The counts.
    pub bins: BTreeMap<i32, u64>,
}

impl Answer {
    /// An answer of named values.
    pub fn new<const N: usize>(values: [(&str, Value); N]) -> Self {
        Answer { values: super::object(values), layout: Map::new(), histogram: None, files: Vec::new() }
    }

    /// The same answer with what can be said of the layout.
    pub fn laid_out<const N: usize>(self, layout: [(&str, Value); N]) -> Self {
        Answer { layout: super::object(layout), ..self }
    }

    /// Whether two answers to the same question, found by whomever, are the same: but for the layout, and for what a sum of
    /// real numbers loses when it is added up in another order.
    pub fn agrees(&self, other: &Answer) -> bool {
        let real = |value: &Value| value.as_f64().filter(|_| value.is_f64());
        let close = |(one, another): (&Value, &Value)| match (real(one), real(another)) {
            (Some(one), Some(another)) => (one - another).abs() <= 1e-9 * one.abs().max(another.abs()),
            _ => one == another,
        };
        self.values.keys().eq(other.values.keys())
            && self.values.values().zip(other.values.values()).all(close)
            && self.histogram == other.histogram
    }

    /// The answer as one JSON object; a histogram appears as an object by its whole number.
    pub fn to_json(&self) -> Value {
        let mut object = self.values.clone();
        object.extend(self.layout.clone());
        if let Some(histogram) = &self.histogram {
            let bins = histogram.bins.iter().map(|(at, &count)| (at.to_string(), Value::from(count)));
            object.insert("histogram".to_owned(), Value::Object(bins.collect()));
        }
        Value::Object(object)
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Histogram};

    #[test]
    fn layouts_need_not_agree() {
        let answer = |sum: f64, reads: u64| Answer::new([("sum", sum.into())]).laid_out([("reads", reads.into())]);
        assert!(answer(0.5, 1).agrees(&answer(0.5, 2)));
        assert!(!answer(0.5, 1).agrees(&answer(0.25, 1)));
        assert_eq!(answer(0.5, 1).to_json().to_string(), r#"{"sum":0.5,"reads":1}"#);
    }

    #[test]
    fn json_keeps_the_order() {
        let mut answer = Answer::new([("foldings", 5.into()), ("b", true.into()), ("a", 1.into())]);
        answer.histogram =
            Some(Histogram { of: "energy", count: "foldings", title: String::new(), bins: [(-10, 2), (-9, 3)].into() });
        assert_eq!(answer.to_json().to_string(), r#"{"foldings":5,"b":true,"a":1,"histogram":{"-10":2,"-9":3}}"#);
    }
}
