#!/usr/bin/env bash
# stores.sh install|start|stop NAME...: real store servers for tests, without containers: s3 (versitygw), gcs (fake-gcs-server), adls (Azurite) and
# hdfs (Hadoop's MiniDFSCluster). All listen on loopback. Downloads go to SKUA_SERVERS_CACHE, data and logs to SKUA_SERVERS_STATE.
# start prints what a client needs as shell variables. Needs: Go, Node.js with npm for adls, Java 17 with javac and Maven for hdfs.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${SKUA_SERVERS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/skua-servers}"
state="${SKUA_SERVERS_STATE:-$cache/state}"
host=127.0.0.1

port() {
  case "$1" in
    s3) echo "${SKUA_S3_PORT:-17070}" ;;
    gcs) echo "${SKUA_GCS_PORT:-14443}" ;;
    adls) echo "${SKUA_ADLS_PORT:-11000}" ;;
    hdfs) echo "${SKUA_HDFS_PORT:-19820}" ;;
    *) echo "unknown server $1" >&2; return 2 ;;
  esac
}

install() {
  mkdir -p "$cache"
  case "$1" in
    s3) [ -x "$cache/versitygw" ] || GOFLAGS= GOBIN="$cache" go install github.com/versity/versitygw/cmd/versitygw@v1.8.0 ;;
    gcs) [ -x "$cache/fake-gcs-server" ] || GOFLAGS= GOBIN="$cache" go install github.com/fsouza/fake-gcs-server@v1.56.1 ;;
    adls) [ -e "$cache/node/node_modules/azurite" ] || npm install --prefix "$cache/node" --no-audit --no-fund --silent azurite@3.37.0 ;;
    hdfs)
      if [ ! -e "$cache/hdfs/MiniCluster.class" ]; then
        mkdir -p "$cache/hdfs/jars"
        mvn -B -q -f "$here/hdfs/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$cache/hdfs/jars"
        javac -nowarn -proc:none -d "$cache/hdfs" -cp "$cache/hdfs/jars/*" "$here/hdfs/MiniCluster.java"
      fi ;;
  esac
}

# launch replaces this shell by the server, in its folder.
launch() {
  local at="$host:$(port "$1")"
  case "$1" in
    s3)
      mkdir -p data/warehouse iam meta
      ROOT_ACCESS_KEY=skua ROOT_SECRET_KEY=skuasecret exec "$cache/versitygw" --port "$at" --iam-dir "$PWD/iam" --quiet posix --sidecar "$PWD/meta" "$PWD/data" ;;
    gcs)
      mkdir -p seed/warehouse
      exec "$cache/fake-gcs-server" -scheme http -host "$host" -port "$(port gcs)" -backend memory -data "$PWD/seed" \
        -public-host "$at" -external-url "http://$at" -log-level warn ;;
    adls)
      exec node "$cache/node/node_modules/azurite/dist/src/blob/main.js" --blobHost "$host" --blobPort "$(port adls)" --location "$PWD/data" \
        --silent --disableTelemetry --skipApiVersionCheck ;;
    hdfs)
      exec "${JAVA:-java}" -Xmx512m --add-opens java.base/java.lang=ALL-UNNAMED -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
        -cp "$cache/hdfs:$cache/hdfs/jars/*" MiniCluster "$PWD/dfs" "$host" "$(port hdfs)" ;;
  esac
}

answers() { (exec 3<>"/dev/tcp/$host/$(port "$1")") 2>/dev/null && { [ "$1" != hdfs ] || grep -q '^ready$' "$state/hdfs/log"; }; }

# alive gives the process of a server that was started here: the number counts only with the start time it had.
started() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
alive() {
  local pid since
  read -r pid since 2>/dev/null <"$state/$1/pid" || return 1
  [ -n "$since" ] && [ "$(started "$pid")" = "$since" ] && echo "$pid"
}

start() {
  install "$1"
  mkdir -p "$state/$1"
  if ! alive "$1" >/dev/null; then
    if (exec 3<>"/dev/tcp/$host/$(port "$1")") 2>/dev/null; then echo "port $(port "$1") is taken" >&2; return 1; fi
    : >"$state/$1/log"
    (cd "$state/$1" && launch "$1") </dev/null >>"$state/$1/log" 2>&1 &
    echo "$! $(started $!)" >"$state/$1/pid"
  fi
  for _ in $(seq 600); do
    answers "$1" && break
    alive "$1" >/dev/null || { echo "$1 died:" >&2; tail -n 20 "$state/$1/log" >&2; return 1; }
    sleep 0.2
  done
  answers "$1" || { echo "$1 does not answer, see $state/$1/log" >&2; return 1; }
  case "$1" in
    s3) echo "SKUA_TEST_S3=http://$host:$(port s3)" ;;
    gcs) echo "SKUA_TEST_GCS=http://$host:$(port gcs)" ;;
    adls) echo "SKUA_TEST_ADLS=http://$host:$(port adls)/devstoreaccount1" ;;
    hdfs) echo "SKUA_TEST_HDFS=$host:$(port hdfs)" ;;
  esac
}

stop() {
  local pid
  pid="$(alive "$1")" || return 0
  kill "$pid"
  for _ in $(seq 100); do alive "$1" >/dev/null || break; sleep 0.1; done
  if alive "$1" >/dev/null; then kill -9 "$pid"; fi
  rm -f "$state/$1/pid"
}

action="${1:-}"
shift || true
case "$action" in
  install | start | stop) for name in "$@"; do "$action" "$name"; done ;;
  *) sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
