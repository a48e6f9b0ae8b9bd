#!/bin/sh
# Written by `netassay advise --format sh`.
# HEAD
#
# Without arguments it prints how it is used and changes nothing.

set -eu

usage() {
    cat <<'USAGE'
usage: IF=INTERFACE [UNDERLAY_IF=INTERFACE] sh advice.sh apply transmitter|receiver [--trade-offs]
       sh advice.sh undo

apply   sets on this host what is recommended for this side. IF is the interface of the traffic,
        UNDERLAY_IF the one under the tunnel. --trade-offs also sets what is proven to lose elsewhere.
undo    restores what `apply` found.

The state before is kept in ./netassay-advice.undo; UNDO names another file.
USAGE
}

UNDO=${UNDO:-netassay-advice.undo}
IF=${IF:-}
UNDERLAY_IF=${UNDERLAY_IF:-}
trade_offs=no
failed=0

fail() {
    printf '%s\n' "$0: $1" >&2
    failed=1
}

# An interface that the user did not name.
named() {
    [ -n "$1" ] && return
    fail "$2 is skipped: its interface is not named (IF, UNDERLAY_IF)"
    return 1
}

feature_state() {
    ethtool -k "$1" | awk -v name="$2:" '$1 == name { print $2; exit }'
}

mtu_state() {
    cat "/sys/class/net/$1/mtu"
}

# feature INTERFACE NAME NAME_IN_LISTING on|off
feature() {
    named "$1" "$2" || return 0
    before=$(feature_state "$1" "$3")
    case $before in
    "$4") printf '%s\n' "$1: $2 is $4 already"; return 0 ;;
    on | off) ;;
    *) fail "$1 has no feature $2"; return 0 ;;
    esac
    printf 'feature %s %s %s %s\n' "$1" "$2" "$3" "$before" >>"$UNDO"
    ethtool -K "$1" "$2" "$4" || true
    if [ "$(feature_state "$1" "$3")" = "$4" ]; then
        printf '%s\n' "$1: $2 is now $4"
    else
        fail "$1: $2 stays $before: the driver does not let it be switched"
    fi
}

# mtu INTERFACE BYTES
mtu() {
    named "$1" mtu || return 0
    before=$(mtu_state "$1")
    [ "$before" = "$2" ] && printf '%s\n' "$1: the MTU is $2 already" && return 0
    printf 'mtu %s %s\n' "$1" "$before" >>"$UNDO"
    if ip link set dev "$1" mtu "$2"; then
        printf '%s\n' "$1: the MTU is now $2"
    else
        fail "$1: the MTU stays $before"
    fi
}

# kernel KEY VALUE
kernel() {
    before=$(sysctl -n "$1")
    [ "$before" = "$2" ] && printf '%s\n' "$1 is $2 already" && return 0
    printf 'kernel %s %s\n' "$1" "$before" >>"$UNDO"
    if sysctl -q -w "$1=$2"; then
        printf '%s\n' "$1 is now $2"
    else
        fail "$1 stays $before"
    fi
}

# What is proven to lose elsewhere is set only on request.
trade_off() {
    if [ "$trade_offs" = yes ]; then
        "$@"
    else
        printf '%s\n' "skipped, a trade-off (--trade-offs sets it): $*"
    fi
}

# SETTINGS
undo() {
    if [ ! -e "$UNDO" ]; then
        fail "there is nothing to undo: $UNDO does not exist"
        return 0
    fi
    # The last change first.
    sed '1!G;h;$!d' "$UNDO" >"$UNDO.reversed"
    while read -r what one two three four; do
        case $what in
        feature)
            ethtool -K "$one" "$two" "$four" || true
            [ "$(feature_state "$one" "$three")" = "$four" ] || fail "$one: $two is not $four again"
            ;;
        mtu) ip link set dev "$one" mtu "$two" || fail "$one: the MTU is not $two again" ;;
        kernel) sysctl -q -w "$one=$two" || fail "$one is not $two again" ;;
        esac
    done <"$UNDO.reversed"
    rm -f "$UNDO.reversed"
    [ "$failed" -ne 0 ] || rm -f "$UNDO"
}

[ "${3:-}" != --trade-offs ] || trade_offs=yes
case "${1:-} ${2:-}" in
"apply transmitter") transmitter ;;
"apply receiver") receiver ;;
"undo ") undo ;;
*)
    usage
    exit 2
    ;;
esac
exit "$failed"
