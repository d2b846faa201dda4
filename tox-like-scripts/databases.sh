# PostgreSQL and MariaDB for tests: throw-away servers in a folder of their own,
# on free ports of 127.0.0.1; nothing else of the machine is touched. To be
# sourced after lib.sh.

# Whether commits wait for the disk. Of a test nothing has to outlive a power
# cut; a measurement sets `yes`.
databases_wait_for_disk=no

# Starts what is not named by STOWPLAN_TEST_POSTGRES_URL or
# STOWPLAN_TEST_MARIADB_URL, and exports these. Stops it when the script ends.
start_databases() {
    trap stop_databases EXIT
    make_database_folder
    if [ -z "${STOWPLAN_TEST_POSTGRES_URL:-}" ]; then
        start_postgres
    fi
    if [ -z "${STOWPLAN_TEST_MARIADB_URL:-}" ]; then
        start_mariadb
    fi
}

make_database_folder() {
    database_folder=$(mktemp -d /tmp/stowplan-databases.XXXXXX)
    chmod 755 "$database_folder"
}

stop_databases() {
    # For PostgreSQL INT means: do not wait for clients.
    [ -z "${postgres_pid:-}" ] || kill -INT "$postgres_pid" 2>/dev/null || true
    [ -z "${mariadb_pid:-}" ] || kill -TERM "$mariadb_pid" 2>/dev/null || true
    wait ${postgres_pid:-} ${mariadb_pid:-} 2>/dev/null || true
    rm -rf "$database_folder"
}

start_postgres() {
    local bin port folder=$database_folder/postgres
    bin=$(postgres_bin)
    if [ -z "$bin" ]; then
        install_packages postgresql
        bin=$(postgres_bin)
    fi
    port=$(free_port)
    say "PostgreSQL of $bin on port $port, in $folder"
    become postgres "$folder"
    "${as[@]}" "$bin/initdb" -D "$folder/data" -U stowplan -A trust -E UTF8 --locale=C -N >/dev/null
    local disk=(-c fsync=off -c full_page_writes=off)
    [ "$databases_wait_for_disk" = no ] || disk=()
    "${as[@]}" "$bin/postgres" -D "$folder/data" -p "$port" -k "$folder" -h 127.0.0.1 \
        "${disk[@]}" -c max_connections=300 \
        >"$folder/log" 2>&1 &
    postgres_pid=$!
    wait_for_port "$port" "$folder/log"
    export STOWPLAN_TEST_POSTGRES_URL=postgres://stowplan@127.0.0.1:$port/postgres
}

# The newest PostgreSQL of the machine; nothing without one.
postgres_bin() {
    local found
    found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
    if [ -z "$found" ] && command -v initdb >/dev/null; then
        found=$(dirname "$(readlink -f "$(command -v initdb)")")
    fi
    printf '%s' "$found"
}

start_mariadb() {
    local server install port folder=$database_folder/mariadb
    export PATH=$PATH:/usr/sbin:/usr/libexec
    command -v mariadbd >/dev/null || install_packages mariadb-server
    server=$(command -v mariadbd)
    install=$(command -v mariadb-install-db)
    port=$(free_port)
    say "MariaDB of $server on port $port, in $folder"
    become mysql "$folder"
    "${as[@]}" "$install" --no-defaults --datadir="$folder/data" --skip-test-db \
        --auth-root-authentication-method=normal >/dev/null
    local disk=(--innodb-flush-log-at-trx-commit=0)
    [ "$databases_wait_for_disk" = no ] || disk=()
    "${as[@]}" "$server" --no-defaults --datadir="$folder/data" --port="$port" \
        --bind-address=127.0.0.1 --socket="$folder/socket" --pid-file="$folder/pid" \
        "${disk[@]}" --max-connections=300 --skip-name-resolve \
        >"$folder/log" 2>&1 &
    mariadb_pid=$!
    wait_for_port "$port" "$folder/log"
    export STOWPLAN_TEST_MARIADB_URL=mysql://root@127.0.0.1:$port/mysql
}

# Sets `as`, the beginning of a command that runs as a user of the system where
# we are root: the servers refuse to be. Gives that user the folder.
become() {
    local user=$1 folder=$2
    mkdir -p "$folder"
    as=()
    if [ "$(id -u)" -eq 0 ]; then
        id -u "$user" >/dev/null 2>&1 || user=nobody
        chown "$user" "$folder"
        as=(setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups --)
    fi
}

install_packages() {
    local sudo=
    if ! command -v apt-get >/dev/null; then
        echo "$* is needed: install it, or name a server in STOWPLAN_TEST_POSTGRES_URL and STOWPLAN_TEST_MARIADB_URL" >&2
        exit 2
    fi
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    say "installing $*"
    run $sudo apt-get update -q
    run $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

wait_for_port() {
    local tries
    for tries in $(seq 300); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then
            return 0
        fi
        sleep 0.1
    done
    echo "no answer on port $1 after $((tries / 10)) s:" >&2
    cat "$2" >&2
    exit 2
}
