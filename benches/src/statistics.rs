//! Medians and quantiles of what was measured.

/// The value below which `part` of them lie; 0 when there are none.
pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted
        .get((last as f64 * part).round() as usize)
        .copied()
        .unwrap_or(0.0)
}

/// The middle one.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let values = [3.0, 1.0, 2.0, 5.0, 4.0];
        assert_eq!(
            [
                median(&values),
                quantile(&values, 1.0),
                quantile(&values, 0.0)
            ],
            [3.0, 5.0, 1.0]
        );
        assert_eq!(median(&[]), 0.0);
    }
}
