# RabbitMQ for tests: a throw-away broker in a folder of its own, on free ports of
# 127.0.0.1. To be sourced after lib.sh and databases.sh.

# Starts one unless STOWPLAN_TEST_RABBIT_URL and STOWPLAN_TEST_RABBIT_MANAGEMENT
# name one, and exports these. Stops it when the script ends.
start_broker() {
    [ -z "${STOWPLAN_TEST_RABBIT_URL:-}" ] || return 0
    local server folder port management
    [ -n "$(broker_bin)" ] || install_packages rabbitmq-server
    server=$(broker_bin)
    broker_folder=$(mktemp -d /tmp/stowplan-broker.XXXXXX)
    chmod 755 "$broker_folder"
    trap stop_everything EXIT
    folder=$broker_folder/rabbitmq
    port=$(free_port)
    management=$(free_port)
    say "RabbitMQ of $server on port $port, in $folder"
    become rabbitmq "$folder"
    cat >"$broker_folder/rabbitmq.conf" <<END
listeners.tcp.1 = 127.0.0.1:$port
management.tcp.ip = 127.0.0.1
management.tcp.port = $management
END
    echo '[rabbitmq_management].' >"$broker_folder/plugins"
    chmod 644 "$broker_folder/rabbitmq.conf" "$broker_folder/plugins"
    "${as[@]}" env HOME="$folder" \
        RABBITMQ_NODENAME="stowplan-$port@localhost" RABBITMQ_DIST_PORT="$(free_port)" \
        RABBITMQ_MNESIA_BASE="$folder/mnesia" RABBITMQ_LOG_BASE="$folder/log" \
        RABBITMQ_LOGS=- RABBITMQ_CONFIG_FILE="$broker_folder/rabbitmq" \
        RABBITMQ_ENABLED_PLUGINS_FILE="$broker_folder/plugins" \
        "$server" >"$folder/log.txt" 2>&1 &
    broker_pid=$!
    wait_for_port "$port" "$folder/log.txt"
    wait_for_port "$management" "$folder/log.txt"
    export STOWPLAN_TEST_RABBIT_URL=rabbit://guest:guest@127.0.0.1:$port/
    export STOWPLAN_TEST_RABBIT_MANAGEMENT=http://127.0.0.1:$management
}

# The server itself, which runs as whoever starts it: the one in the path is for
# the system's own.
broker_bin() {
    ls /usr/lib/rabbitmq/bin/rabbitmq-server 2>/dev/null || command -v rabbitmq-server || true
}

stop_everything() {
    if [ -n "${broker_pid:-}" ]; then
        kill -TERM "$broker_pid" 2>/dev/null || true
        wait "$broker_pid" 2>/dev/null || true
    fi
    rm -rf "${broker_folder:-}"
    [ -z "${database_folder:-}" ] || stop_databases
}
