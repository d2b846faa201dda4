//! Counts and sums of what there is, taken from the peer's database by its own
//! arithmetic and from the image that was loaded after the import: they must be
//! the same.

use super::peer::Peer;
use std::collections::{BTreeMap, HashMap};
use stowplan_ledger::{
    Image,
    image::{
        names::{Ix, Names},
        providers::At,
    },
};

/// What is counted, by the ids that both have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Account {
    /// All providers; the sum is that of their generations.
    Providers,
    /// Inventories of a class; the sum is that of their totals.
    Inventories { class: i64 },
    /// Providers with a trait.
    Trait { id: i64 },
    /// Aggregates of a provider.
    Aggregates { provider: i64 },
    /// Consumers that hold something; the sum is that of their generations.
    Consumers,
    /// Allocations of a class at a provider; the sum is what they use.
    Allocations { provider: i64, class: i64 },
}

/// A count and a sum.
type Tally = (i64, i64);

/// All counts and sums of one side.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Books(BTreeMap<Account, Tally>);

impl Books {
    /// As the peer's database says.
    pub async fn of_peer(peer: &Peer) -> anyhow::Result<Self> {
        let mut books = Self::default();
        let all = ["COUNT(*)", "COALESCE(SUM(generation), 0)"];
        for [count, sum] in peer.numbers(all, "resource_providers").await? {
            books.set(Account::Providers, (count, sum));
        }
        let holding = "consumers WHERE uuid IN (SELECT consumer_id FROM allocations)";
        for [count, sum] in peer.numbers(all, holding).await? {
            books.set(Account::Consumers, (count, sum));
        }
        let columns = ["resource_class_id", "COUNT(*)", "SUM(total)"];
        let by_class = "inventories GROUP BY resource_class_id";
        for [class, count, sum] in peer.numbers(columns, by_class).await? {
            books.set(Account::Inventories { class }, (count, sum));
        }
        let by_trait = "resource_provider_traits GROUP BY trait_id";
        for [id, count] in peer.numbers(["trait_id", "COUNT(*)"], by_trait).await? {
            books.set(Account::Trait { id }, (count, 0));
        }
        let columns = ["resource_provider_id", "COUNT(*)"];
        let by_provider = "resource_provider_aggregates GROUP BY resource_provider_id";
        for [provider, count] in peer.numbers(columns, by_provider).await? {
            books.set(Account::Aggregates { provider }, (count, 0));
        }
        let columns = ["resource_provider_id", "resource_class_id", "COUNT(*)", "SUM(used)"];
        let by_stock = "allocations GROUP BY resource_provider_id, resource_class_id";
        for [provider, class, count, sum] in peer.numbers(columns, by_stock).await? {
            books.set(Account::Allocations { provider, class }, (count, sum));
        }
        Ok(books)
    }

    /// As the image says.
    pub fn of_image(image: &Image) -> Self {
        let mut books = Self::default();
        books.0.insert(Account::Providers, (0, 0));
        books.0.insert(Account::Consumers, (0, 0));
        let ids: HashMap<At, i64> = image
            .providers
            .iter()
            .filter_map(|at| Some((at, image.providers.get(at)?.id)))
            .collect();
        for (&at, &provider) in &ids {
            books.add(Account::Providers, image.providers.generation(at));
            books.add_provider(image, at, provider);
        }
        for consumer in image.consumers.iter() {
            books.add(Account::Consumers, consumer.generation);
            for held in &consumer.allocations {
                let provider = ids.get(&held.provider).copied().unwrap_or(i64::MIN);
                let account =
                    Account::Allocations { provider, class: id_of(&image.classes, held.class) };
                books.add(account, held.used);
            }
        }
        books
    }

    fn add_provider(&mut self, image: &Image, at: At, provider: i64) {
        let Some(row) = image.providers.get(at) else { return };
        for &class in row.classes.iter() {
            let total = image.providers.inventory(at, class).map_or(0, |there| there.total);
            self.add(Account::Inventories { class: id_of(&image.classes, class) }, total);
        }
        for &name in row.traits.iter() {
            self.add(Account::Trait { id: id_of(&image.traits, name) }, 0);
        }
        for _ in row.aggregates.iter() {
            self.add(Account::Aggregates { provider }, 0);
        }
    }

    /// What differs, in words.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let accounts = self.0.keys().chain(other.0.keys().filter(|a| !self.0.contains_key(a)));
        let differs = accounts.filter(|account| self.0.get(account) != other.0.get(account));
        let told = |books: &Self, account| {
            let (count, sum) = books.0.get(account).copied().unwrap_or_default();
            format!("{count} rows, sum {sum}")
        };
        differs
            .map(|account| {
                format!("{account:?}: {} and {}", told(self, account), told(other, account))
            })
            .collect()
    }

    fn set(&mut self, account: Account, tally: Tally) {
        self.0.insert(account, tally);
    }

    fn add(&mut self, account: Account, amount: i64) {
        let (count, sum) = self.0.entry(account).or_default();
        *count += 1;
        *sum += amount;
    }
}

/// The durable id of a name; one that nothing has, should there be none.
fn id_of(names: &Names, ix: Ix) -> i64 {
    names.row(ix).map_or(i64::MIN, |row| row.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_side_lacks_or_has_otherwise_is_told() {
        let (mut peer, mut ours) = (Books::default(), Books::default());
        for books in [&mut peer, &mut ours] {
            books.add(Account::Consumers, 4);
            books.add(Account::Allocations { provider: 1, class: 2 }, 10);
        }
        assert_eq!(peer.differences(&ours), Vec::<String>::new());
        peer.add(Account::Allocations { provider: 1, class: 2 }, 5);
        ours.add(Account::Trait { id: 7 }, 0);
        assert_eq!(
            peer.differences(&ours),
            [
                "Allocations { provider: 1, class: 2 }: 2 rows, sum 15 and 1 rows, sum 10",
                "Trait { id: 7 }: 0 rows, sum 0 and 1 rows, sum 0",
            ]
        );
    }
}
