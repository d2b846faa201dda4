# What the scripts beside this file have in common; to be sourced.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Prints a command and runs it.
run() {
    printf '+ %s\n' "$*"
    "$@"
}

say() {
    printf '== %s\n' "$*"
}

# Prints the comment at the head of the script that is run, and ends, if the
# first argument asks for that.
help_if_asked() {
    case "${1:-}" in
    -h | --help)
        sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    esac
}

# Where steps note how much passed and failed, one line each: name, passed,
# failed, seconds, remark.
if [ -z "${STOWPLAN_TALLY:-}" ]; then
    STOWPLAN_TALLY=$(mktemp)
    export STOWPLAN_TALLY
    owns_tally=yes
fi

# tally NAME PASSED FAILED SECONDS REMARK
tally() {
    printf '%s\t%s\t%s\t%s\t%s\n' "$@" >>"$STOWPLAN_TALLY"
}

# Runs a command as a step. Its output is searched for counts of tests; a step
# that fails without having counted a failure counts as one, and one that passes
# without a count as one that passed.
#   step NAME COMMAND...
step() {
    local name=$1 log started status=0 passed failed
    shift
    log=$(mktemp)
    started=$SECONDS
    say "$name"
    printf '+ %s\n' "$*"
    "$@" 2>&1 | tee "$log" || status=$?
    read -r passed failed < <(counts "$log")
    rm -f "$log"
    if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
        failed=1
    elif [ "$status" -eq 0 ] && [ "$passed" -eq 0 ]; then
        passed=1
    fi
    tally "$name" "$passed" "$failed" "$((SECONDS - started))" ""
}

# Passed and failed tests of a log: those of cargo test and nextest, of
# `stowplan evaluate` and of the conformance runner.
counts() {
    sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
        /^test result:/ {
            for (i = 1; i < NF; i++) {
                if ($(i + 1) ~ /^passed/) passed += $i
                if ($(i + 1) ~ /^failed/) failed += $i
            }
        }
        /^ *Summary \[/ {
            for (i = 1; i < NF; i++) {
                if ($(i + 1) ~ /^passed/) passed += $i
                if ($(i + 1) ~ /^(failed|timed)/) failed += $i
            }
        }
        /^[0-9]+ passed, [0-9]+ failed/ { passed += $1; failed += $3 }
        END { print passed + 0, failed + 0 }'
}

# Leaves a step out, and says why.
#   skip NAME REASON
skip() {
    say "$1: left out, $2"
    tally "$1" 0 0 0 "left out: $2"
}

# The table of all steps, `N passed, N failed`, and the exit code. Only the
# script that was called by hand does so.
conclude() {
    [ "${owns_tally:-}" = yes ] || return 0
    local passed failed
    say summary
    awk -F '\t' '
        { printf "%-28s %6d passed %4d failed %5d s  %s\n", $1, $2, $3, $4, $5 }
    ' "$STOWPLAN_TALLY"
    read -r passed failed < <(awk -F '\t' '{ p += $2; f += $3 } END { print p + 0, f + 0 }' "$STOWPLAN_TALLY")
    rm -f "$STOWPLAN_TALLY"
    printf '%s passed, %s failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ]
}

# Builds everything that tests need, once, with one profile: what the tests
# run is the binary of this build.
build() {
    if [ -z "${STOWPLAN_BINARY:-}" ]; then
        step build cargo build --workspace --all-targets
        STOWPLAN_BINARY=$(target_folder)/debug/stowplan
        export STOWPLAN_BINARY
    fi
}

target_folder() {
    cargo metadata --format-version 1 --no-deps |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])'
}

# Runs tests: with nextest where it is installed, which is faster.
#   cargo_tests unit|functional
# The whole workspace is named either way, so that nothing is built a second time
# with other features.
cargo_tests() {
    local crate=stowplan-tests
    if cargo nextest --version >/dev/null 2>&1; then
        local filter="package($crate)"
        [ "$1" = functional ] || filter="not $filter"
        cargo nextest run --no-fail-fast --workspace -E "$filter"
    elif [ "$1" = functional ]; then
        cargo test --no-fail-fast --package "$crate"
    else
        cargo test --no-fail-fast --workspace --exclude "$crate" --lib --bins --tests
    fi
}

need() {
    command -v "$1" >/dev/null || {
        echo "$1 is needed and not installed" >&2
        exit 2
    }
}
