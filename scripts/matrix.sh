#!/usr/bin/env bash
# The laboratory in other environments: each line is one that a machine may have, and what happened in it.
#   scripts/matrix.sh [LINE ...]        as root, since most lines need a namespace of their own
# PYTHON is the environment's interpreter, which a line without root can only use where every user may read it; PYTHONS are
# those of other environments, set up by `make setup PYTHON=...` in clones of their own: a line for each.
# A line is well when each of its commands ends with 0, or tells in one line why it cannot; a traceback, a signal and a
# wait without end are not. The table goes to standard output, what failed to standard error.
set -u
cd "$(dirname "$0")/.."
root=$PWD
python=${PYTHON:-$root/.venv/bin/python}
work=$(mktemp -d /tmp/ipclab-matrix-XXXXXX)
chmod 755 "$work"
trap 'umount "$work"/*/mounted 2>/dev/null; rm -rf "$work"' EXIT
seconds=${SECONDS_EACH:-240}
measure="measure --study payload --backend shm-mmap --size 100 --placement same --profile smoke"
bad=0

# Run the three commands of a line: $1 its name, $2 what comes before the command (a wrapper), the rest NAME=VALUE.
line() {
    local name=$1 wrapper=$2 told=() code well=1 first
    shift 2
    [[ -n ${only:-} && " $only " != *" ${name// /-} "* ]] && return
    local folder=$work/${name//[^a-z0-9]/-}
    mkdir -p "$folder"
    chmod 777 "$folder"
    for command in backends "$measure" "values data/reference.ipclab --study payload --metric p50"; do
        first=${command%% *}
        timeout -k 5 "$seconds" env IPCLAB_BESIDE=1 IPCLAB_DATA="$folder/data" XDG_CACHE_HOME="$folder/cache" "$@" \
            $wrapper "$python" -m ipclab $command >"$folder/out" 2>"$folder/err"
        code=$?
        if grep -q Traceback "$folder/err" || ((code > 2)); then
            well=0
            { echo "== $name: $first ended with $code"; tail -5 "$folder/err"; } >&2
        fi
        told+=("$first $code")
        ((code)) && why=$(grep '^ipclab: ' "$folder/err" | tail -1) || why=
        [[ $why ]] && told+=("(${why:8:110})")
    done
    ((well)) || bad=1
    printf '%-28s %-5s %s\n' "$name" "$( ((well)) && echo well || echo BAD)" "${told[*]}"
}

only="$*"
mounted() { echo "unshare -m $work/mount.sh"; }
# in a mount namespace: the shell words of $MOUNT, then the command
printf '#!/bin/sh\nset -e\neval "$MOUNT"\nexec "$@"\n' >"$work/mount.sh"
printf '#!/bin/bash\neval "$LIMIT"\nexec "$@"\n' >"$work/limit.sh"
chmod 755 "$work"/*.sh
limited="$work/limit.sh"
cpu=$(taskset -pc $$ | sed 's/.*[-,: ]//')
spaced="$work/with a space"
long="$work/$(printf 'l%.0s' {1..180})"
odd="$work/it's \$HOME 한국어"
mkdir -p "$spaced" "$long" "$odd" "$work/full/mounted" "$work/noexec/mounted" "$work/readonly"
chmod 1777 "$spaced" "$long" "$odd"
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"

line "usual" ""
line "one CPU, the last" "taskset -c $cpu"
line "dev shm of 64 MB" "$(mounted)" MOUNT='mount -t tmpfs -o size=64m tmpfs /dev/shm'
line "dev shm read-only" "$(mounted)" MOUNT='mount -t tmpfs -o ro tmpfs /dev/shm'
line "dev shm missing" "$(mounted)" MOUNT='mount -t tmpfs tmpfs /dev; mknod -m 666 /dev/null c 1 3; mknod -m 666 /dev/urandom c 1 9'
line "TMPDIR long" "" TMPDIR="$long"
line "TMPDIR with a space" "" TMPDIR="$spaced"
line "TMPDIR odd" "" TMPDIR="$odd"
line "TMPDIR full" "$(mounted)" TMPDIR="$work/full/mounted" \
    MOUNT="mount -t tmpfs -o size=64k tmpfs $work/full/mounted; head -c 65536 /dev/zero >$work/full/mounted/x || :"
line "TMPDIR noexec" "$(mounted)" TMPDIR="$work/noexec/mounted" MOUNT="mount -t tmpfs -o noexec tmpfs $work/noexec/mounted"
line "TMPDIR missing" "" TMPDIR="$work/nothing"
line "HOME unset" "env -u HOME -u XDG_CACHE_HOME"
line "HOME read-only" "$(mounted)" HOME="$work/readonly" XDG_CACHE_HOME= \
    MOUNT="mount -t tmpfs -o ro tmpfs $work/readonly"
line "LANG C" "" LANG=C LC_ALL=C PYTHONUTF8=0
line "EUC-KR" "" LC_ALL=C.UTF-8 PYTHONUTF8=0 PYTHONIOENCODING=euc-kr
line "umask 000" "$limited" LIMIT='umask 000'
line "umask 077" "$limited" LIMIT='umask 077'
line "no root" "$nobody" HOME="$work"
line "ulimit -n 64" "$limited" LIMIT='ulimit -n 64'
line "ulimit -v 1 GB" "$limited" LIMIT='ulimit -v 1000000'
line "ulimit -v 600 MB" "$limited" LIMIT='ulimit -v 600000'
line "ulimit -u 30, no root" "$nobody $limited" HOME="$work" LIMIT='ulimit -u 30'
line "no loopback" "unshare -n"
line "no git" "" PATH="$(dirname "$python"):/nowhere"
line "data in an odd folder" "" IPCLAB_DATA="$odd/data"
for python in ${PYTHONS:-}; do
    line "Python $("$python" -c 'import platform; print(platform.python_version())')" ""
done
exit $bad
