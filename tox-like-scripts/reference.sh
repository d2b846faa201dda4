# openstack-placement as a cloud runs it, to measure beside it: two workers
# behind a proxy, on MariaDB. To be sourced after databases.sh.

# Starts it anew on an empty database and sets `reference_url` and
# `reference_pids`.
#   start_reference NAME
start_reference() {
    local name=$1 port url database=${STOWPLAN_TEST_MARIADB_URL#*://}
    stop_reference
    reference_folder=$(mktemp -d /tmp/stowplan-reference.XXXXXX)
    chmod 755 "$reference_folder"
    reference_environment
    command -v nginx >/dev/null || install_packages nginx-light
    database=${database%/*}
    python_sql "drop database if exists placement_$name"
    python_sql "create database placement_$name character set utf8mb3"
    mkdir "$reference_folder/etc"
    cat >"$reference_folder/etc/placement.conf" <<CONF
[placement_database]
connection = mysql+pymysql://$database/placement_$name?charset=utf8
[api]
auth_strategy = noauth2
CONF
    "$reference_python/placement-manage" --config-file "$reference_folder/etc/placement.conf" db sync
    port=$(free_port)
    OS_PLACEMENT_CONFIG_DIR=$reference_folder/etc "$reference_python/gunicorn" \
        --workers 2 --bind "127.0.0.1:$port" --keep-alive 75 \
        'placement.wsgi:init_application()' >"$reference_folder/log" 2>&1 &
    reference_server=$!
    wait_for_port "$port" "$reference_folder/log"
    url=127.0.0.1:$(free_port)
    cat >"$reference_folder/nginx.conf" <<CONF
worker_processes 1;
daemon off;
pid $reference_folder/nginx.pid;
error_log $reference_folder/nginx.log;
events { worker_connections 1024; }
http {
    access_log off;
    upstream placement { server 127.0.0.1:$port; keepalive 16; }
    server {
        listen $url;
        keepalive_requests 1000000;
        location / {
            proxy_pass http://placement;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host \$http_host;
            proxy_read_timeout 600s;
            proxy_buffers 64 64k;
            proxy_buffer_size 64k;
            proxy_busy_buffers_size 128k;
            proxy_max_temp_file_size 0;
        }
    }
}
CONF
    nginx -c "$reference_folder/nginx.conf" &
    reference_proxy=$!
    wait_for_port "${url#*:}" "$reference_folder/nginx.log"
    reference_url=http://$url
    reference_pids=$reference_server,$reference_proxy
    say "openstack-placement on $reference_url"
}

stop_reference() {
    [ -n "${reference_folder:-}" ] || return 0
    kill ${reference_server:-} ${reference_proxy:-} 2>/dev/null || true
    wait ${reference_server:-} ${reference_proxy:-} 2>/dev/null || true
    rm -rf "$reference_folder"
    reference_folder= reference_server= reference_proxy=
}

# Its Python environment, made once.
reference_environment() {
    local folder=${XDG_CACHE_HOME:-$HOME/.cache}/stowplan-tests/reference
    reference_python=$folder/bin
    [ ! -e "$folder/complete" ] || return 0
    say "installing openstack-placement into $folder (once)"
    python3 -m venv --clear "$folder"
    "$reference_python/pip" install --quiet openstack-placement==16.0.0 gunicorn PyMySQL
    touch "$folder/complete"
}

# Runs one statement on the MariaDB server of the tests.
python_sql() {
    reference_environment
    "$reference_python/python" - "$STOWPLAN_TEST_MARIADB_URL" "$1" <<'PYTHON'
import sys
from urllib.parse import urlsplit

import pymysql

url = urlsplit(sys.argv[1])
server = pymysql.connect(host=url.hostname, port=url.port or 3306, user=url.username, password=url.password or "")
server.cursor().execute(sys.argv[2])
PYTHON
}
