//! Times of the day.

use stowplan_model::Micros;

const MINUTE: i64 = 60 * Micros::PER_SECOND;
const DAY: i64 = 24 * 60 * MINUTE;

/// A part of the day, from one time to another; when that is not later, over
/// midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    from: i64,
    to: i64,
}

impl Window {
    /// Of a text such as `21:00-06:00`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('-')?;
        Some(Self { from: time(from.trim())?, to: time(to.trim())? })
    }

    /// Whether it is open at a time, on clocks that are so many microseconds
    /// ahead of UTC. Its last second belongs to it.
    pub(super) fn holds(self, now: Micros, offset: i64) -> bool {
        let time = now.0.saturating_add(offset).rem_euclid(DAY);
        let is_before_end = time < self.to + Micros::PER_SECOND;
        if self.from < self.to {
            time >= self.from && is_before_end
        } else {
            time >= self.from || is_before_end
        }
    }
}

/// Microseconds since midnight.
fn time(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |text: &str, below: i64| {
        let digits = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<i64>().ok().filter(|number| digits && *number < below)
    };
    Some((number(hours, 24)? * 60 + number(minutes, 60)?) * MINUTE)
}

/// By how many microseconds clocks are ahead of UTC: `+02:00`, `-03:30`.
pub(super) fn offset(text: &str) -> Option<i64> {
    match text.split_at_checked(1)? {
        ("+", rest) => time(rest),
        ("-", rest) => time(rest).map(|ahead| -ahead),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn windows_hold_from_one_time_to_the_other() {
        let at = |text: &str| Micros(time(text).unwrap() + 17 * DAY);
        for (window, now, holds) in [
            ("10:00-21:00", "09:59", false),
            ("10:00-21:00", "10:00", true),
            ("10:00-21:00", "21:00", true),
            ("10:00-21:00", "21:01", false),
            ("21:00-06:00", "23:00", true),
            ("21:00-06:00", "05:59", true),
            ("21:00-06:00", "12:00", false),
            ("0:00-0:00", "13:37", true),
            ("9:30-9:30", "9:29", true),
        ] {
            let window = Window::read(window).unwrap();
            assert_eq!(window.holds(at(now), 0), holds, "{window:?} {now}");
        }
        let evening = Window::read("20:00-22:00").unwrap();
        assert!(evening.holds(at("18:30"), offset("+02:00").unwrap()));
        assert!(!evening.holds(at("18:30"), offset("-02:00").unwrap()));
    }

    #[test]
    fn what_is_no_window() {
        for text in ["", "10:00", "10-12", "24:00-1:00", "1:60-2:00", "1:+1-2:00", "001:00-2:00"] {
            assert_eq!(Window::read(text), None, "{text:?}");
        }
        assert_eq!(offset("02:00"), None);
    }
}
