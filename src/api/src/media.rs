//! Media types: what a caller accepts.

use actix_web::http::header::HeaderValue;

/// JSON.
pub const JSON: &str = "application/json";
/// A page.
pub const HTML: &str = "text/html";

/// An Accept header: ranges with their weights. Without one, or with `*/*`
/// alone, only JSON is accepted, as errors too shall be JSON then.
#[derive(Debug, PartialEq)]
pub struct Accept<'a> {
    ranges: Vec<Range<'a>>,
}

#[derive(Debug, PartialEq)]
struct Range<'a> {
    kind: &'a str,
    subtype: &'a str,
    weight: f32,
}

impl<'a> Accept<'a> {
    /// Reads the header. What cannot be read is left out; if nothing is left,
    /// the header counts as missing.
    #[must_use]
    pub fn of(header: Option<&'a HeaderValue>) -> Self {
        let text = header.and_then(|value| value.to_str().ok()).unwrap_or("").trim();
        let mut ranges: Vec<_> = text.split(',').filter_map(Range::parse).collect();
        if ranges.is_empty() || text == "*/*" {
            ranges = vec![Range { kind: "application", subtype: "json", weight: 1.0 }];
        }
        Self { ranges }
    }

    /// Whether a media type is accepted.
    #[must_use]
    pub fn takes(&self, media: &str) -> bool {
        self.weight(media).is_some()
    }

    /// The accepted one of these that is liked best; the earlier of equals by
    /// the order in the header, then in the offer.
    #[must_use]
    pub fn best<'o>(&self, offers: &[&'o str]) -> Option<&'o str> {
        let mut best: Option<(f32, usize, &'o str)> = None;
        for offer in offers {
            let Some((weight, place)) = self.weight(offer) else { continue };
            let better = best.is_none_or(|(w, p, _)| weight > w || (weight == w && place < p));
            if better {
                best = Some((weight, place, offer));
            }
        }
        best.map(|(_, _, offer)| offer)
    }

    /// Weight and place of the most specific range that covers a media type.
    fn weight(&self, media: &str) -> Option<(f32, usize)> {
        let (kind, subtype) = media.split_once('/')?;
        let mut found: Option<(u8, f32, usize)> = None;
        for (place, range) in self.ranges.iter().enumerate() {
            let rank = match (range.kind, range.subtype) {
                ("*", "*") => 1,
                (k, "*") if k.eq_ignore_ascii_case(kind) => 2,
                (k, s) if k.eq_ignore_ascii_case(kind) && s.eq_ignore_ascii_case(subtype) => 3,
                _ => continue,
            };
            if found.is_none_or(|(best, ..)| rank > best) {
                found = Some((rank, range.weight, place));
            }
        }
        found.filter(|(_, weight, _)| *weight > 0.0).map(|(_, weight, place)| (weight, place))
    }
}

impl<'a> Range<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let (kind, subtype) = parts.next()?.split_once('/')?;
        let weight = parts
            .find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")))
            .map_or(Some(1.0), |q| q.parse().ok())?;
        Some(Self { kind, subtype, weight })
    }
}

/// The media type of a body: the header without its parameters.
#[must_use]
pub fn content_type(header: Option<&HeaderValue>) -> &str {
    let text = header.and_then(|value| value.to_str().ok()).unwrap_or("");
    text.split(';').next().unwrap_or("").trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_offer() {
        for (accept, best) in [
            (None, Some(JSON)),
            (Some("*/*"), Some(JSON)),
            (Some("text/html"), Some(HTML)),
            (Some("text/html,application/xml;q=0.9,*/*;q=0.8"), Some(HTML)),
            (Some("application/json, text/html"), Some(JSON)),
            (Some("text/*;q=0.5, application/*"), Some(JSON)),
            (Some("text/plain"), None),
            (Some("application/json;q=0"), None),
            (Some("nonsense"), Some(JSON)),
        ] {
            let header = accept.map(HeaderValue::from_static);
            assert_eq!(Accept::of(header.as_ref()).best(&[HTML, JSON]), best, "{accept:?}");
        }
    }

    #[test]
    fn a_specific_range_beats_a_wide_one() {
        let header = HeaderValue::from_static("application/json;q=0, */*");
        assert!(!Accept::of(Some(&header)).takes(JSON));
        let header = HeaderValue::from_static("text/html, */*;q=0.1");
        assert!(Accept::of(Some(&header)).takes(JSON));
    }

    #[test]
    fn parameters_of_a_content_type_do_not_matter() {
        let header = HeaderValue::from_static("application/json; charset=utf-8");
        assert_eq!(content_type(Some(&header)), JSON);
        assert_eq!(content_type(None), "");
    }
}
