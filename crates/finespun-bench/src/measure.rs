//! Comparable times: variants take turns, and both the least and the median count.
//!
//! Disturbances of a machine change slowly compared with one run. Variants that are timed in turn meet the same
//! disturbances; variants that are timed one after the other do not, and their ratio is worth little.

use finespun_lab::machine::Read;
use finespun_lab::sample::Sample;

/// Times `variants` in turn, `rounds` times each, the order reversed every other round.
///
/// `time` runs one variant once and returns its seconds. Before the first round each variant runs once, uncounted.
///
/// # Errors
///
/// The first error of `time`.
pub fn alternate<V, E>(
    rounds: usize,
    variants: &[V],
    time: impl FnMut(&V) -> Result<f64, E>,
) -> Result<Vec<Sample>, E> {
    Ok(take_turns(rounds, variants, time)?.into_iter().map(Sample::from_iter).collect())
}

/// The same for a measurement that finds more than a time.
///
/// # Errors
///
/// The first error of `measure`.
pub fn take_turns<V, F, E>(
    rounds: usize,
    variants: &[V],
    mut measure: impl FnMut(&V) -> Result<F, E>,
) -> Result<Vec<Vec<F>>, E> {
    for variant in variants {
        measure(variant)?;
    }
    let mut found: Vec<Vec<F>> = variants.iter().map(|_| Vec::with_capacity(rounds)).collect();
    for round in 0..rounds {
        for place in 0..variants.len() {
            let place = if round % 2 == 0 { place } else { variants.len() - 1 - place };
            found[place].push(measure(&variants[place])?);
        }
    }
    Ok(found)
}

/// Returns the bytes of resident memory of this process.
pub fn resident(read: Read<'_>) -> Option<u64> {
    let status = read("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::{Sample, alternate, resident};

    #[test]
    fn variants_take_turns() {
        let mut order = Vec::new();
        let samples = alternate(2, &[1.0, 2.0], |&variant| {
            order.push(variant);
            Ok::<_, ()>(variant)
        });
        assert_eq!(order, [1.0, 2.0, 1.0, 2.0, 2.0, 1.0]);
        assert_eq!(samples.expect("no error").iter().map(Sample::least).collect::<Vec<_>>(), [1.0, 2.0]);
    }

    #[test]
    fn resident_memory_is_read_from_the_status_file() {
        assert_eq!(resident(&|_| Some("Name:\tx\nVmRSS:\t    12 kB\n".to_owned())), Some(12 * 1024));
        assert_eq!(resident(&|_| None), None);
    }
}
