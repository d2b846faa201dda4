//! Tables of things that configuration names.

/// A row of such a table: what makes the thing of this name.
pub struct Named<M> {
    /// The name.
    pub name: &'static str,
    /// What makes it.
    pub make: M,
}

/// A name that nothing has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {name:?} does not exist; the nearest is {nearest:?} (there are {known})")]
pub struct UnknownName {
    /// What was named: `action` or `plugin`.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// The name that is most like it.
    pub nearest: &'static str,
    /// All names.
    pub known: String,
}

/// The row of a name.
///
/// # Errors
/// When there is none; the error tells the nearest.
pub fn find<'t, M>(
    kind: &'static str,
    table: &'t [Named<M>],
    name: &str,
) -> Result<&'t Named<M>, UnknownName> {
    table.iter().find(|row| row.name == name).ok_or_else(|| {
        let likeness = |row: &&Named<M>| strsim::damerau_levenshtein(row.name, name);
        UnknownName {
            kind,
            name: name.to_owned(),
            nearest: table.iter().min_by_key(likeness).map_or("", |row| row.name),
            known: table.iter().map(|row| row.name).collect::<Vec<_>>().join(", "),
        }
    })
}
