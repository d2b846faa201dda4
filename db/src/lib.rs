//! Entities, migrations and connections of stowplan's database.
