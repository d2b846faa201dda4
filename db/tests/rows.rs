//! What is written is read back exactly, by every table and on every database,
//! with values bound and with values in the text.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, ModelTrait, QueryFilter,
    QueryOrder,
};
use stowplan_db::entity::*;
use stowplan_db::testing::{Kind, TestDatabase};
use stowplan_db::{
    Batch, Connection, LiteralError, Script, Statements, Written, read_head, sea_orm,
};

/// Text that quoting, collations and encodings stumble over.
const TRICKY: [&str; 10] = [
    "",
    "it's \"quoted\" `so`",
    "back\\slash \\' \\n \\0 \\",
    "line\nline\r\n\ttab",
    "control \u{1}\u{8}\u{1a}\u{1b}\u{7f}",
    "semi; -- dash /* star */ # hash ? $1 %s",
    "żółć Ωμέγα 日本語 🦀 \u{1F1F5}\u{1F1F1} e\u{301} \u{200B}",
    "\u{feff}bom \u{fffd} \u{10ffff}",
    "trailing blank ",
    "''",
];

const UUID: &str = "6b3ff0ee-6d2b-4b7e-9c5e-0d1f0a3c5e77";

async fn kept<E>(connection: &Connection, models: Vec<E::Model>)
where
    E: EntityTrait,
    E::Model: ModelTrait<Entity = E> + IntoActiveModel<E::ActiveModel> + PartialEq,
    E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
{
    let actives = || models.clone().into_iter().map(IntoActiveModel::into_active_model);
    let found = async || E::find().all(connection.reader()).await.unwrap();
    let clear = async || E::delete_many().exec(&*connection.writer().await).await.unwrap();

    beside(connection, models.clone()).await;
    same(&found().await, &models);

    clear().await;
    // The table of the head cannot do without its row.
    if let Ok(head) = read_head(connection.reader()).await {
        let script = inserted(Script::new(connection), models.clone());
        let written = connection.write(head.seq, head.seq, UUID, script).await.unwrap();
        assert_eq!(written, Written::Committed);
        same(&found().await, &models);
        clear().await;
    }

    let insert = E::insert_many(actives());
    insert.exec_without_returning(&*connection.writer().await).await.unwrap();
    same(&found().await, &models);
}

/// Inserts rows by a text, beside the batches.
async fn beside<M: ModelTrait>(connection: &Connection, rows: Vec<M>) {
    let mut batch = Batch::begin(connection).await.unwrap();
    batch.execute_all(inserted(Script::text(connection), rows)).await.unwrap();
    batch.commit().await.unwrap();
}

/// The statements that insert rows.
fn inserted<M: ModelTrait>(mut script: Script, rows: Vec<M>) -> Statements {
    script.insert(rows);
    script.finish().unwrap()
}

/// Order aside.
fn same<M: PartialEq + std::fmt::Debug>(found: &[M], expected: &[M]) {
    assert_eq!(found.len(), expected.len());
    for model in expected {
        assert!(found.contains(model), "{model:?} is not among {found:?}");
    }
}

#[tokio::test]
async fn every_table_keeps_its_rows() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        ledger_tables(&connection).await;
        placement_tables(&connection).await;
        host_tables(&connection).await;
        group_tables(&connection).await;
        bus_tables(&connection).await;
        request_tables(&connection).await;
        batch_tables(&connection).await;
        decision_table(&connection).await;
    }
}

async fn ledger_tables(connection: &Connection) {
    let journal = TRICKY.iter().zip(1..).map(|(text, seq)| journal::Model {
        seq,
        batch: UUID.to_owned(),
        version: i32::MAX,
        kind: "allocate".to_owned(),
        request_id: (*text).to_owned(),
        time_us: i64::MIN,
        body: format!("{{\"a\":\"{text}\"}}").repeat(10_000),
    });
    kept::<journal::Entity>(connection, journal.collect()).await;
    let member = member::Model { id: UUID.to_owned(), applied_seq: i64::MAX, heartbeat_us: 1 };
    kept::<member::Entity>(connection, vec![member]).await;
}

async fn placement_tables(connection: &Connection) {
    let named = || TRICKY.iter().zip(1..).map(|(text, id)| ((*text).to_owned(), id));
    let classes = named().map(|(name, id)| resource_class::Model {
        id,
        name,
        created_us: i64::MAX,
        updated_us: 0,
    });
    kept::<resource_class::Entity>(connection, classes.collect()).await;
    let traits =
        named().map(|(name, id)| trait_name::Model { id, name, created_us: -1, updated_us: 2 });
    kept::<trait_name::Entity>(connection, traits.collect()).await;
    let providers = named().map(|(name, id)| resource_provider::Model {
        id,
        uuid: format!("{id:036}"),
        name: format!("{name}{}", "ż".repeat(200 - name.chars().count())),
        generation: i64::MAX,
        parent_id: (id > 1).then_some(1),
        root_id: 1,
        created_us: 1,
        updated_us: 2,
    });
    kept::<resource_provider::Entity>(connection, providers.collect()).await;
    let ratios = [1.0, 0.1, 16.0, 1.0 / 3.0, f64::MAX, f64::MIN_POSITIVE, 1.5e-300, 0.0, -2.5];
    let inventories = ratios.into_iter().zip(1..).map(|(ratio, class_id)| inventory::Model {
        provider_id: i64::MAX,
        class_id,
        total: i64::MAX,
        reserved: i64::MIN,
        min_unit: 1,
        max_unit: i64::from(i32::MAX),
        step_size: 1,
        allocation_ratio: ratio,
    });
    kept::<inventory::Entity>(connection, inventories.collect()).await;
    let provider_trait = provider_trait::Model { provider_id: 1, trait_id: 2 };
    kept::<provider_trait::Entity>(connection, vec![provider_trait]).await;
    let provider_aggregate =
        provider_aggregate::Model { provider_id: 1, aggregate: UUID.to_owned() };
    kept::<provider_aggregate::Entity>(connection, vec![provider_aggregate]).await;
    let consumers = named().map(|(text, id)| consumer::Model {
        id,
        uuid: format!("{id:036}"),
        generation: 0,
        project: text.clone(),
        user_id: text.clone(),
        consumer_type: (id > 2).then(|| text.clone()),
        origin: (id > 2).then_some(text),
        created_us: 1,
        updated_us: 2,
    });
    kept::<consumer::Entity>(connection, consumers.collect()).await;
    let allocation =
        allocation::Model { consumer_id: 1, provider_id: 2, class_id: 3, used: i64::MAX };
    kept::<allocation::Entity>(connection, vec![allocation]).await;
}

async fn host_tables(connection: &Connection) {
    let cells = [true, false].into_iter().zip(1..).map(|(disabled, id)| cell::Model {
        id,
        uuid: format!("{id:036}"),
        name: "cell".to_owned(),
        disabled,
    });
    kept::<cell::Entity>(connection, cells.collect()).await;
    let hosts =
        [None, Some(UUID.to_owned())].into_iter().zip(1..).map(|(cell_uuid, id)| host::Model {
            id,
            uuid: format!("{id:036}"),
            host: "h".repeat(255),
            node: format!("n{id}"),
            cell_uuid,
            source: "agent".to_owned(),
            inventory_owner: "compute".to_owned(),
            vcpus: 64,
            memory_mb: 1 << 40,
            local_gb: 0,
            last_seen_us: 1,
            report_seq: 2,
            report: "{}".to_owned(),
            news: (id == 1).then(|| "{}".to_owned()),
            created_us: 3,
            updated_us: 4,
        });
    kept::<host::Entity>(connection, hosts.collect()).await;
    let services = [None, Some(5)].into_iter().zip(1..).map(|(last_seen_us, id)| service::Model {
        id,
        uuid: format!("{id:036}"),
        host: format!("h{id}"),
        binary: "nova-compute".to_owned(),
        zone: last_seen_us.map(|_| "it's a zone".to_owned()),
        version: 61,
        disabled: id == 1,
        disabled_reason: (id == 1).then(|| "it's broken".to_owned()),
        forced_down: id == 2,
        last_seen_us,
        created_us: 3,
        updated_us: 4,
    });
    kept::<service::Entity>(connection, services.collect()).await;
}

async fn request_tables(connection: &Connection) {
    let keys = (1..4).map(|id| request_key::Model {
        id,
        uuid: format!("{id:036}"),
        fingerprint: UUID.to_owned(),
        created_us: i64::MAX,
    });
    kept::<request_key::Entity>(connection, keys.collect()).await;
    let long = "it's \\ ".repeat(50_000);
    let bodies = TRICKY.iter().copied().chain([long.as_str()]);
    let answers = bodies.zip(1..).map(|(body, key_id)| request_answer::Model {
        key_id,
        status: 409,
        body: body.to_owned(),
    });
    kept::<request_answer::Entity>(connection, answers.collect()).await;
}

async fn bus_tables(connection: &Connection) {
    let calls = TRICKY.iter().zip(1..).map(|(text, id)| call::Model {
        id,
        uuid: format!("{id:036}"),
        msg_id: (*text).to_owned(),
        unique_id: format!("{id:032}"),
        reply_queue: (*text).to_owned(),
        answer: format!("\"result\": {text:?}"),
        claims: "[]".to_owned(),
        delivered: id % 2 == 0,
        created_us: 1,
        updated_us: 2,
    });
    kept::<call::Entity>(connection, calls.collect()).await;
    let stamps = TRICKY.iter().zip(1..).map(|(text, id)| stamp::Model {
        id,
        uuid: format!("{id:036}"),
        about: (*text).to_owned(),
        state: (id % 2 == 0).then(|| (*text).to_owned()),
        said_us: i64::MAX,
        noted_us: i64::MIN,
    });
    kept::<stamp::Entity>(connection, stamps.collect()).await;
    kept::<outbox::Entity>(connection, vec![outbox::Model { id: 1, sent_seq: i64::MAX }]).await;
}

async fn group_tables(connection: &Connection) {
    let aggregate = host_aggregate::Model {
        id: 1,
        uuid: UUID.to_owned(),
        name: "rack 1".to_owned(),
        external_id: Some(7),
        created_us: 1,
        updated_us: 2,
    };
    kept::<host_aggregate::Entity>(connection, vec![aggregate]).await;
    let hosts = TRICKY.map(|text| host_aggregate_host::Model {
        aggregate_id: 1,
        host: text.to_owned(),
        position: i64::MAX,
    });
    kept::<host_aggregate_host::Entity>(connection, hosts.to_vec()).await;
    let metadata = TRICKY.map(|text| host_aggregate_metadata::Model {
        aggregate_id: 1,
        meta_key: text.to_owned(),
        meta_value: text.to_owned(),
    });
    kept::<host_aggregate_metadata::Entity>(connection, metadata.to_vec()).await;
    let groups = [None, Some(3)].into_iter().zip(1..).map(|(most, id)| server_group::Model {
        id,
        uuid: format!("{id:036}"),
        name: "g".to_owned(),
        policy: "anti-affinity".to_owned(),
        max_server_per_host: most,
        project: "p".to_owned(),
        user_id: "u".to_owned(),
        created_us: 1,
        updated_us: 2,
    });
    kept::<server_group::Entity>(connection, groups.collect()).await;
    let member = server_group_member::Model { group_id: 1, instance: UUID.to_owned(), position: 0 };
    kept::<server_group_member::Entity>(connection, vec![member]).await;
}

async fn batch_tables(connection: &Connection) {
    let queue = queue::Model {
        id: 1,
        name: "default".to_owned(),
        spec: "{}".to_owned(),
        state: "open".to_owned(),
        generation: 0,
        created_us: 1,
        updated_us: 2,
    };
    kept::<queue::Entity>(connection, vec![queue]).await;
    let job = job::Model {
        id: 1,
        uuid: UUID.to_owned(),
        namespace: "ns".to_owned(),
        name: "job".to_owned(),
        queue: "default".to_owned(),
        phase: "pending".to_owned(),
        spec: "{\"big\":\"".to_owned() + &"x".repeat(200_000) + "\"}",
        conditions: "[]".to_owned(),
        created_us: 1,
        updated_us: 2,
    };
    kept::<job::Entity>(connection, vec![job]).await;
    let tasks =
        [None, Some(UUID.to_owned())].into_iter().zip(1..).map(|(host_uuid, id)| task::Model {
            id,
            uuid: format!("{id:036}"),
            job_id: 1,
            role: "worker".to_owned(),
            task_index: id - 1,
            state: "pending".to_owned(),
            attempt: 0,
            host_uuid,
            reason: (id == 1).then(|| "no room\nat all".to_owned()),
            detail: (id == 2).then(|| "{\"retries\":1}".to_owned()),
            created_us: 1,
            updated_us: 2,
        });
    kept::<task::Entity>(connection, tasks.collect()).await;
}

async fn decision_table(connection: &Connection) {
    let bodies = [None, Some(vec![]), Some((0..=255).cycle().take(200_000).collect())];
    let decisions = bodies.into_iter().zip(1..).map(|(body, seq)| decision::Model {
        id: format!("{seq:036}"),
        request_id: "req-1".to_owned(),
        seq,
        seed: -1,
        kind: "select".to_owned(),
        outcome: "placed".to_owned(),
        header: "{}".to_owned(),
        body,
        created_us: 1,
    });
    kept::<decision::Entity>(connection, decisions.collect()).await;
}

#[tokio::test]
async fn names_compare_exactly() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        // Case, a trailing blank, an accent, a composed and a decomposed letter,
        // a full-width letter: all are names of their own.
        let names = ["a", "A", "a ", "á", "\u{e9}", "e\u{301}", "\u{ff41}", "ß", "ss", "ı", "i"];
        let rows = names.iter().zip(1..).map(|(name, id)| resource_class::Model {
            id,
            name: (*name).to_owned(),
            created_us: 0,
            updated_us: 0,
        });
        kept::<resource_class::Entity>(&connection, rows.collect()).await;
        for name in names {
            let found = resource_class::Entity::find()
                .filter(resource_class::Column::Name.eq(name))
                .all(connection.reader())
                .await
                .unwrap();
            let found: Vec<_> = found.iter().map(|row| row.name.as_str()).collect();
            assert_eq!(found, [name], "{kind:?}");
        }
    }
}

#[tokio::test]
async fn a_text_of_many_statements_keeps_tricky_values() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        let rows: Vec<_> = TRICKY
            .iter()
            .zip(1..)
            .map(|(text, id)| trait_name::Model {
                id,
                name: (*text).to_owned(),
                created_us: 0,
                updated_us: 0,
            })
            .collect();
        let mut script = Script::new(&connection);
        rows.iter().for_each(|row| script.insert([row.clone()]));
        let written = connection.write(0, 1, UUID, script.finish().unwrap()).await.unwrap();
        assert_eq!(written, Written::Committed);
        same(&trait_name::Entity::find().all(connection.reader()).await.unwrap(), &rows);
    }
}

#[tokio::test]
async fn doubles_in_the_text_keep_every_bit() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        let mut bits: u64 = 0x2545_f491_4f6c_dd1d;
        let doubles = (0..4000).filter_map(|_| {
            // Marsaglia's xorshift: every exponent comes up, subnormals too.
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            Some(f64::from_bits(bits)).filter(|double| double.is_finite())
        });
        let rows: Vec<_> = doubles
            .zip(1..)
            .map(|(allocation_ratio, class_id)| inventory::Model {
                provider_id: 1,
                class_id,
                total: 1,
                reserved: 0,
                min_unit: 1,
                max_unit: 1,
                step_size: 1,
                allocation_ratio,
            })
            .collect();
        beside(&connection, rows.clone()).await;
        let found = inventory::Entity::find()
            .order_by_asc(inventory::Column::ClassId)
            .all(connection.reader())
            .await
            .unwrap();
        assert!(rows.len() > 3900);
        assert_eq!(found, rows, "{kind:?}");
    }
}

#[tokio::test]
async fn rows_that_fill_more_than_one_text() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        let row = |seq: i64, length: usize| journal::Model {
            seq,
            batch: UUID.to_owned(),
            version: 1,
            kind: "test".to_owned(),
            request_id: "req-1".to_owned(),
            time_us: 1,
            body: "it's \\".repeat(length / 6),
        };
        // Short ones, some that share a text, one longer than a text, and again.
        let lengths = [6, 160_000, 160_000, 160_000, 900_000, 6, 300_000, 300_000, 6];
        let rows: Vec<_> = (1..).zip(lengths).map(|(seq, length)| row(seq, length)).collect();
        let mut script = Script::new(&connection);
        script.insert(rows.clone());
        script.set(journal::Column::Seq, journal::Column::TimeUs, &[(1, 7), (9, -7)]);
        script.delete(journal::Column::Seq, [2]);
        let written = connection.write(0, 9, UUID, script.finish().unwrap()).await.unwrap();
        assert_eq!(written, Written::Committed, "{kind:?}");
        let mut expected = rows;
        expected[0].time_us = 7;
        expected[8].time_us = -7;
        expected.remove(1);
        let order = journal::Entity::find().order_by_asc(journal::Column::Seq);
        let kept = order.all(connection.reader()).await.unwrap();
        assert!(kept == expected, "{kind:?}");

        if kind == Kind::MariaDb {
            // Longer than it takes in one packet by default.
            let mut script = Script::new(&connection);
            script.insert([row(10, 20 << 20)]);
            assert!(matches!(script.finish(), Err(LiteralError::TooLong { .. })));
        }
    }
}
