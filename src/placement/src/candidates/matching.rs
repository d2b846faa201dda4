//! Whether choices that exclude each other can all be made.

use super::set::Set;

/// Whether each row can get one of its columns when column `c` has room for
/// `room[c]` rows: bipartite matching by augmenting paths.
///
/// A search that asks this at every step never walks into a dead end of its
/// own making; without it, one device too few costs every arrangement of the
/// others.
pub(super) fn fits(rows: &[Set], room: &[usize]) -> bool {
    let mut holders: Vec<Vec<usize>> = vec![Vec::new(); room.len()];
    (0..rows.len()).all(|row| {
        let mut seen = Set::none(room.len());
        place(row, rows, room, &mut holders, &mut seen)
    })
}

fn place(
    row: usize,
    rows: &[Set],
    room: &[usize],
    holders: &mut [Vec<usize>],
    seen: &mut Set,
) -> bool {
    for column in rows[row].iter() {
        if seen.has(column) {
            continue;
        }
        seen.insert(column);
        if holders[column].len() < room[column] {
            holders[column].push(row);
            return true;
        }
        for holder in 0..holders[column].len() {
            let other = holders[column][holder];
            if place(other, rows, room, holders, seen) {
                holders[column][holder] = row;
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[&[usize]], room: &[usize], expected: bool) {
        let set = |columns: &&[usize]| {
            let mut set = Set::none(room.len());
            columns.iter().for_each(|column| set.insert(*column));
            set
        };
        let rows: Vec<Set> = rows.iter().map(set).collect();
        assert_eq!(fits(&rows, room), expected, "{rows:?} {room:?}");
    }

    #[test]
    fn finds_a_matching_where_there_is_one() {
        check(&[], &[], true);
        check(&[&[0], &[0]], &[1], false);
        check(&[&[0], &[0]], &[2], true);
        check(&[&[0, 1], &[0]], &[1, 1], true);
        check(&[&[0, 1], &[0, 1], &[0, 1]], &[1, 1], false);
        check(&[&[0, 1], &[1, 2], &[0], &[2]], &[1, 1, 1], false);
        check(&[&[0, 1], &[1, 2], &[0], &[2, 3]], &[1, 1, 1, 1], true);
        check(&[&[0], &[0, 1], &[0, 1]], &[2, 1], true);
        check(&[&[0], &[0], &[0, 1], &[1]], &[2, 1], false);
    }
}
