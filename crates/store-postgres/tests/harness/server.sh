# A PostgreSQL server for tests, in a new folder, reached by a socket there. It says the folder once it answers, goes on until
# its standard input is closed, however whoever started it ends, and leaves nothing behind.
# usage: sh server.sh FOLDER_OF_PROGRAMS
set -e
# Whoever started it ends by such signals, not the server: the closed input tells it, and it cleans up.
trap '' HUP INT TERM PIPE
programs=$1
server=
folder=$(mktemp -d "${TMPDIR:-/tmp}/headwater-postgres-XXXXXX")
leave() {
    cd /
    [ -z "$server" ] || { kill -QUIT "$server" 2>/dev/null || true; wait "$server" || true; }
    rm -rf "$folder"
}
trap leave EXIT
cd "$folder"

# It refuses to run as root.
as=
if [ "$(id -u)" = 0 ]; then
    user=postgres
    id "$user" >/dev/null 2>&1 || user=nobody
    chown "$user" "$folder"
    as="setpriv --reuid=$user --regid=$(id -g "$user") --clear-groups"
fi

$as "$programs/initdb" --username=postgres --auth=trust --no-sync --encoding=UTF8 --locale=C --pgdata="$folder/data" >log 2>&1
$as "$programs/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c fsync=off -c synchronous_commit=off \
    -c full_page_writes=off -c max_connections=400 -c shared_buffers=128MB -c wal_level=minimal -c max_wal_senders=0 \
    -c deadlock_timeout=100ms >>log 2>&1 &
server=$!
until "$programs/pg_isready" -q -h "$folder"; do
    kill -0 $server 2>/dev/null || { cat log >&2; exit 1; }
    sleep 0.05
done
echo "$folder"
while read -r _; do :; done
