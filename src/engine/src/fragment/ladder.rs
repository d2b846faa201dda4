//! What devices are worth at one price of one side amount.

/// A shape of request, as one kind of host sees it at one price.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    /// The shape, by number.
    pub demand: usize,
    /// How many untouched devices it takes; 1 for a share of any.
    pub devices: usize,
    /// How many steps of a device it takes.
    pub steps: usize,
    /// What taking it brings, all prices paid.
    pub gain: f64,
}

/// What may be done with a device or a set of them: which shape is taken (none:
/// one device is left to shares), and how much of the time.
pub(super) type Choices = Vec<(Option<Offer>, f64)>;

/// The worth of devices of one kind at one price.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ladder {
    /// Of one device, by the steps that are left.
    pub cells: Vec<f64>,
    /// Of untouched devices, by their number.
    pub wholes: Vec<f64>,
}

/// What is done with them, for those who follow where room goes.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub cells: Vec<Choices>,
    pub wholes: Vec<Choices>,
}

/// Gains so many softnesses below the best are never taken.
const FAR: f64 = 8.0;

impl Ladder {
    /// Worths and plan for devices of `steps`, `most` on a host at most.
    pub fn climb(offers: &[Offer], steps: usize, most: usize, softness: f64) -> (Self, Plan) {
        let mut ladder = Self { cells: vec![0.0], wholes: vec![0.0] };
        let mut plan = Plan { cells: vec![Vec::new()], wholes: vec![Vec::new()] };
        let (mut shares, sets): (Vec<Offer>, Vec<Offer>) =
            offers.iter().partition(|offer| offer.devices == 1);
        shares.sort_by_key(|offer| offer.steps);
        for left in 1..=steps {
            let fitting = shares.iter().take_while(|offer| offer.steps <= left);
            let options = fitting.map(|o| (Some(*o), o.gain + ladder.cells[left - o.steps]));
            let (worth, choices) = soften(options, Some(0.0), softness);
            ladder.cells.push(worth);
            plan.cells.push(choices);
        }
        let alone = ladder.cells[steps];
        for count in 1..=most {
            let fitting = sets.iter().filter(|offer| offer.devices <= count);
            let options = fitting.map(|o| (Some(*o), o.gain + ladder.wholes[count - o.devices]));
            let apart = (None, alone + ladder.wholes[count - 1]);
            let (worth, choices) = soften(options.chain([apart]), None, softness);
            ladder.wholes.push(worth);
            plan.wholes.push(choices);
        }
        (ladder, plan)
    }
}

/// The worth of a choice that mostly takes the best option, and how often it
/// takes which. `idle` is what taking none is worth, where that is possible.
fn soften(
    options: impl Iterator<Item = (Option<Offer>, f64)> + Clone,
    idle: Option<f64>,
    softness: f64,
) -> (f64, Choices) {
    let best = options.clone().map(|option| option.1).chain(idle).fold(f64::MIN, f64::max);
    let part = |worth: f64| ((worth - best) / softness).exp();
    let near = options.filter(|option| option.1 > best - FAR * softness);
    let mut choices: Choices = near.map(|(offer, worth)| (offer, part(worth))).collect();
    let sum = idle.map_or(0.0, part) + choices.iter().map(|choice| choice.1).sum::<f64>();
    choices.iter_mut().for_each(|choice| choice.1 /= sum);
    (best + softness * sum.ln(), choices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(devices: usize, steps: usize, gain: f64) -> Offer {
        Offer { demand: 0, devices, steps, gain }
    }

    #[test]
    fn room_is_worth_its_best_filling() {
        let offers = [offer(1, 6, 6.0), offer(1, 4, 4.0), offer(1, 3, 2.0), offer(2, 10, 25.0)];
        let (ladder, plan) = Ladder::climb(&offers, 10, 4, 1e-3);
        let close = |found: &[f64], wanted: &[f64]| {
            found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 0.01)
        };
        assert!(close(&ladder.cells, &[0., 0., 0., 2., 4., 4., 6., 6., 8., 8., 10.]));
        assert!(close(&ladder.wholes, &[0., 10., 25., 35., 50.]));
        for choices in plan.cells.iter().skip(3).chain(plan.wholes.iter().skip(1)) {
            let sum: f64 = choices.iter().map(|choice| choice.1).sum();
            assert!((sum - 1.0).abs() < 0.01, "{choices:?}");
        }
    }

    #[test]
    fn what_costs_more_than_it_brings_is_left() {
        let (ladder, _) = Ladder::climb(&[offer(1, 1, -5.0)], 3, 0, 0.1);
        assert!(ladder.cells.iter().all(|worth| worth.abs() < 1e-6), "{ladder:?}");
    }
}
