//! `stowplan demo`.

use super::{folder, stowplan};

#[test]
fn the_cloud_is_placed_and_found_again() {
    let folder = folder(&[]);
    let demo = ["demo", "--directory", "cloud", "--port", "0", "--exit"];
    let first = stowplan(&folder, &demo);
    assert_eq!(first.code, 0, "{}{}", first.stdout, first.stderr);
    for text in ["200 hosts in 3 zones", "train", "too-large", "zone-b", "No valid host was found"]
    {
        assert!(first.stdout.contains(text), "{text}: {}", first.stdout);
    }
    let again = stowplan(&folder, &demo);
    assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
    let found = "found the claims of 500 virtual machines and 57 tasks";
    assert!(again.stdout.contains(found), "{}", again.stdout);
}
