//! The answer of an application.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// An answer: named values, and for some applications a histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Numbers and booleans by name, in the order of output.
    pub values: Map<String, Value>,
    /// Values that depend on the number of nodes, shown after the other values. Answers on different numbers of nodes
    /// may differ here.
    pub layout: Map<String, Value>,
    /// A histogram, if the application has one.
    pub histogram: Option<Histogram>,
    /// The contents of the requested files, in the order of [`App::files`](super::App::files).
    pub files: Vec<Vec<u8>>,
}

/// Counts by an integer key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The name of the key, for example `energy`.
    pub of: &'static str,
    /// The name of the counted items, for example `foldings`.
    pub count: &'static str,
    /// The subject, for the title of a picture.
    pub title: String,
    /// The counts.
    pub bins: BTreeMap<i32, u64>,
}

impl Answer {
    /// Creates an answer from named values.
    pub fn new<const N: usize>(values: [(&str, Value); N]) -> Self {
        Answer { values: super::object(values), layout: Map::new(), histogram: None, files: Vec::new() }
    }

    /// Returns the same answer with values that depend on the layout.
    pub fn laid_out<const N: usize>(self, layout: [(&str, Value); N]) -> Self {
        Answer { layout: super::object(layout), ..self }
    }

    /// Returns true if two answers to the same question agree. The layout may differ, and so may rounding errors of
    /// sums in a different order.
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

    /// Returns the answer as one JSON object; a histogram is an object with its keys as names.
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
    fn layouts_may_differ_between_agreeing_answers() {
        let answer = |sum: f64, reads: u64| Answer::new([("sum", sum.into())]).laid_out([("reads", reads.into())]);
        assert!(answer(0.5, 1).agrees(&answer(0.5, 2)));
        assert!(!answer(0.5, 1).agrees(&answer(0.25, 1)));
        assert_eq!(answer(0.5, 1).to_json().to_string(), r#"{"sum":0.5,"reads":1}"#);
    }

    #[test]
    fn json_keeps_the_order_of_the_values() {
        let mut answer = Answer::new([("foldings", 5.into()), ("b", true.into()), ("a", 1.into())]);
        answer.histogram =
            Some(Histogram { of: "energy", count: "foldings", title: String::new(), bins: [(-10, 2), (-9, 3)].into() });
        assert_eq!(answer.to_json().to_string(), r#"{"foldings":5,"b":true,"a":1,"histogram":{"-10":2,"-9":3}}"#);
    }
}
