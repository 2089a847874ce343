#!/usr/bin/env bash
# Sets the environment up: the packages of requirements.lock, our two, and the native one where cargo is there; with `dev` the tools
# of requirements-dev.lock, too. Does nothing when all of it is as the files here say. Called by make.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'ipclab: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

env_dir=$1
python=$env_dir/bin/python
uv=$env_dir/bin/uv
with=${2:-}
stamp=$env_dir/ipclab-setup
base=${PYTHON:-python3}

digest() { cat requirements.lock pyproject.toml packages/more/pyproject.toml scripts/setup.sh | sha256sum | cut -c1-32; }
dev_digest() { sha256sum requirements-dev.lock | cut -c1-32; }
native_digest() {
    command -v cargo >/dev/null 2>&1 || { echo "no cargo"; return; }
    find ipclab/native/hardware -type f -not -path '*/target/*' -print0 | sort -z | xargs -0 sha256sum |
        cat - <(cargo --version) | sha256sum | cut -c1-32
}

wanted="$(digest) $(pwd)"
wanted_native=$(native_digest)
install_lock() {
    say "installing the packages of $1"
    "$uv" pip install --quiet --python "$python" --require-hashes -r "$1" ||
        die "packages could not be installed: is a package registry reachable?"
}
add_tools() {
    [ "$with" = dev ] && [ "$(cat "$stamp-dev" 2>/dev/null)" != "$(dev_digest)" ] || return 0
    install_lock requirements-dev.lock
    dev_digest >"$stamp-dev"
}
if [ -f "$stamp" ] && [ "$(sed -n 1p "$stamp")" = "$wanted" ] && [ "$(sed -n 2p "$stamp")" = "$wanted_native" ]; then
    add_tools
    exit 0
fi

command -v "$base" >/dev/null 2>&1 ||
    die "no Python ($base): install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3"
"$base" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    die "$("$base" --version) is too old: install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3"

if [ "${CONDA_PREFIX:-}" = "$env_dir" ]; then
    say "using the conda environment $env_dir"
    [ -x "$uv" ] || die "no uv in this conda environment: conda env update -f environment.yml"
else
    if [ ! -x "$python" ]; then
        say "making a virtual environment in ${env_dir#"$(pwd)"/}"
        "$base" -m venv "$env_dir" ||
            die "Python cannot make virtual environments: install its venv module (Debian: apt install python3-venv)"
    fi
    pinned=$(awk '/^uv==/ { found = 1; print; next } found && !/^ / { exit } found' requirements.lock)
    version=$("$uv" --version 2>/dev/null | cut -d' ' -f2 || true)
    if [ "uv==$version" != "${pinned%% *}" ]; then
        "$python" -m pip install --quiet --disable-pip-version-check --require-hashes -r <(printf '%s\n' "$pinned") ||
            die "uv could not be installed: is a package registry reachable?"
    fi
fi
install_lock requirements.lock

# An environment of before 0.8 has packages that are rooms of ipclab now: what they offered is offered twice else.
"$uv" pip uninstall --quiet --python "$python" ipclab-measure ipclab-report ipclab-answers 2>/dev/null || true
ours=(--no-build-isolation --no-deps --editable . --editable ./packages/more)
"$uv" pip install --quiet --python "$python" "${ours[@]}" ||
    die "ipclab itself could not be installed"

# Both beside the native package, whose linker uses one CPU.
compile_packages() { "$python" -m compileall -q -x '/tests?/' "$env_dir"/lib/python3*/site-packages >/dev/null 2>&1 || true; }
compile_multiplexer() {
    say "compiling the stream multiplexer"
    "$python" -c 'import sys; from ipclab.studies.multiplexer.toolchain import warm; why = warm(); sys.exit(why and f"ipclab: {why}")' ||
        say "the multiplexer is not testable here"
}
compile_packages &
compile_multiplexer &

if [ "$wanted_native" = "no cargo" ]; then
    say "no cargo: hardware limits and what else needs native code are not testable here (fix: install Rust, then make setup)"
else
    say "building the native package"
    log=$(mktemp)
    if "$uv" pip install --quiet --python "$python" --no-deps --no-build-isolation ./ipclab/native/hardware 2>"$log"; then
        rm -f "$log"
    else
        grep -m 1 -A 3 -E '^[[:space:]]+error' "$log" >&2 || tail -n 3 "$log" >&2 # what cargo says, not what ran it
        rm -f "$log"
        say "the native package could not be built: what needs it is not testable here (fix: do what cargo says above, often update Rust, then make setup)"
        wanted_native="build failed"
    fi
fi
wait
printf '%s\n%s\n' "$wanted" "$wanted_native" >"$stamp"
add_tools
