//! One answer to a scrape, metric by metric.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;

use super::list::Metric;

/// Labels of a sample.
pub type Labels<'a> = &'a [(&'static str, &'a str)];

/// What is being written.
pub struct Page<'a>(DescriptorEncoder<'a>);

impl<'a> Page<'a> {
    /// On an encoder.
    pub fn on(encoder: DescriptorEncoder<'a>) -> Self {
        Self(encoder)
    }

    /// A metric with one value.
    pub fn one(&mut self, metric: Metric, value: impl Value) -> fmt::Result {
        self.each(metric, [(&[] as Labels<'_>, value)])
    }

    /// A metric with a value for each set of labels.
    pub fn each<'l, V: Value>(
        &mut self,
        metric: Metric,
        samples: impl IntoIterator<Item = (Labels<'l>, V)>,
    ) -> fmt::Result {
        use prometheus_client::metrics::MetricType;
        let Metric { name, help, kind } = metric;
        let mut encoder = self.0.encode_descriptor(name, help, None, kind)?;
        for (labels, value) in samples {
            let sample = encoder.encode_family(&labels)?;
            match kind {
                MetricType::Counter => ConstCounter::new(value.as_f64()).encode(sample)?,
                _ => ConstGauge::new(value.as_f64()).encode(sample)?,
            }
        }
        Ok(())
    }

    /// Histograms, each with its label.
    pub fn histograms<'l>(
        &mut self,
        metric: Metric,
        label: &'static str,
        histograms: impl IntoIterator<Item = (&'static str, &'l Histogram)>,
    ) -> fmt::Result {
        let Metric { name, help, kind } = metric;
        let mut encoder = self.0.encode_descriptor(name, help, None, kind)?;
        for (value, histogram) in histograms {
            histogram.encode(encoder.encode_family(&[(label, value)])?)?;
        }
        Ok(())
    }
}

/// A number of a sample. Those above 2^53 are rounded, as Prometheus does.
pub trait Value {
    /// It.
    fn as_f64(&self) -> f64;
}

macro_rules! values {
    ($($number:ty),*) => {
        $(impl Value for $number {
            fn as_f64(&self) -> f64 {
                *self as f64
            }
        })*
    };
}

values!(u64, usize, i64, f64, u32);

impl Value for bool {
    fn as_f64(&self) -> f64 {
        f64::from(u8::from(*self))
    }
}
