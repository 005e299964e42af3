//! The measured times of one variant, with the least and the median.

/// The times of one variant in seconds; at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// As measured.
    times: Vec<f64>,
    /// From the least to the greatest.
    sorted: Vec<f64>,
}

impl FromIterator<f64> for Sample {
    /// # Panics
    ///
    /// If there is no time.
    fn from_iter<T: IntoIterator<Item = f64>>(times: T) -> Self {
        let times = Vec::from_iter(times);
        assert!(!times.is_empty(), "a sample holds at least one time");
        let mut sorted = times.clone();
        sorted.sort_by(f64::total_cmp);
        Sample { times, sorted }
    }
}

impl Sample {
    /// Returns the least time: the cost of the work without disturbances.
    pub fn least(&self) -> f64 {
        self.sorted[0]
    }

    /// Returns the median time; for an even number of times, the mean of the two in the middle.
    pub fn median(&self) -> f64 {
        let middle = self.sorted.len() / 2;
        match self.sorted.len() % 2 {
            0 => f64::midpoint(self.sorted[middle - 1], self.sorted[middle]),
            _ => self.sorted[middle],
        }
    }

    /// Returns all times, in the order of measurement.
    pub fn all(&self) -> &[f64] {
        &self.times
    }
}

#[cfg(test)]
mod tests {
    use super::Sample;

    #[test]
    fn least_and_median() {
        let odd = Sample::from_iter([3.0, 1.0, 2.0]);
        assert_eq!((odd.least(), odd.median(), odd.all()), (1.0, 2.0, &[3.0, 1.0, 2.0][..]));
        assert_eq!(Sample::from_iter([4.0, 1.0, 2.0, 3.0]).median(), 2.5);
    }
}
