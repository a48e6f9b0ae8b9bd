//! What a host is asked to do before there is an agent: POSIX shell, and programs that BusyBox has
//! too.

/// Looks for a place that programs can be run from, and reports it; once the program is there,
/// waits for the end of its lease, and removes the place. `$1`: the program's SHA-256; `$2`: `keep`
/// for a place that outlives the connection; `$3`: the lease, as the program reads it.
///
/// It answers `netassay ARCHITECTURE USER-ID CAPABILITIES HAS PACKED SUDO DIRECTORY`, then the
/// addresses of the connection as ssh tells them, then the directory of what never outlives it.
pub(crate) const KEEP: &str = r#"
umask 077
runs() { t=$(mktemp "$1/try.XXXXXX" 2>/dev/null) || return 1; printf '#!/bin/sh\n' > "$t" && chmod 700 "$t" && "$t" 2>/dev/null; r=$?; rm -f "$t"; return $r; }
f=
for p in "$TMPDIR" /tmp /var/tmp /dev/shm "$HOME"; do
  [ -n "$p" ] && f=$(mktemp -d "$p/netassay.XXXXXXXXXX" 2>/dev/null) || continue
  runs "$f" && break
  rmdir "$f"; f=
done
[ -n "$f" ] || { echo "no directory is writable and lets programs run: tried TMPDIR, /tmp, /var/tmp, /dev/shm and HOME" >&2; exit 1; }
trap 'rm -rf "$f"' EXIT
trap 'exit 1' HUP INT TERM
d=$f
if [ "$2" = keep ]; then
  d=${XDG_CACHE_HOME:-$HOME/.cache}/netassay/agents/$1
  mkdir -p "$d" && chmod 700 "$d" && runs "$d" || { echo "cannot keep a program in $d" >&2; exit 1; }
fi
has=no; printf '%s  %s\n' "$1" "$d/netassay" | sha256sum -c >/dev/null 2>&1 && has=yes
packed=no; command -v gzip >/dev/null 2>&1 && packed=yes
sudo=no; [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null && sudo=yes; }
caps=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status 2>/dev/null)
printf 'netassay %s %s %s %s %s %s %s\n' "$(uname -m)" "$(id -u)" "${caps:-unknown}" $has $packed $sudo "$d"
printf 'connection %s\n' "$SSH_CONNECTION"
printf 'files %s\n' "$f"
read -r word
[ "$word" = hold ] && "$d/netassay" hold "$3"
exit 0
"#;

/// Takes a file from its input into the directory `$1` under the name `$4`, and compares its
/// SHA-256 with `$2` before it has that name, and can be run. `$3`: `yes` if it comes compressed by
/// gzip. The part that has arrived has a name of its own: two hosts may share the directory.
pub(crate) const TAKE: &str = r#"
umask 077
p=$(mktemp "$1/part.XXXXXX") || exit 1
trap 'rm -f "$p"' EXIT
trap 'exit 1' HUP INT TERM
if [ "$3" = yes ]; then gzip -dc; else cat; fi > "$p"
printf '%s  %s\n' "$2" "$p" | sha256sum -c >/dev/null 2>&1 || { echo "$4 did not arrive as it was sent (SHA-256)" >&2; exit 1; }
chmod 700 "$p" && mv -f "$p" "$1/$4" && echo taken
"#;

/// Becomes the program. `$1`: the directory; `$2`: `yes` if by sudo; then the program's arguments.
///
/// Where the connection that keeps the program has ended, ssh makes another one by itself, and
/// finds no program.
pub(crate) const RUN: &str = r#"
p=$1/netassay; s=$2; shift 2
[ -x "$p" ] || { echo "netassay is no longer on this machine: it restarted, or the connection that kept netassay there ended; start again (--resume goes on)" >&2; exit 1; }
if [ "$s" = yes ]; then exec sudo -n -- "$p" "$@"; fi
exec "$p" "$@"
"#;

/// Tells the identity of the present boot.
pub(crate) const BOOT_ID: &str = r#"
echo "boot $(cat /proc/sys/kernel/random/boot_id)"
"#;

/// Restarts the host. `$1`: `yes` if by sudo. It answers `boot ID`, the boot before; then `failed
/// WHY` if every way to restart failed, or nothing more that counts.
///
/// The init system is asked first. Only where there is none, or it refuses, is the kernel told to
/// write out what it has (`s`), to mount everything read-only (`u`) and to restart (`b`).
pub(crate) const REBOOT: &str = r#"
echo "boot $(cat /proc/sys/kernel/random/boot_id)"
s=; [ "$1" = yes ] && s="sudo -n --"
why=$( { [ -d /run/systemd/system ] && $s systemctl reboot; } 2>&1 ) && { echo going; exit 0; }
more=$( $s reboot 2>&1 ) && { echo going; exit 0; }
last=$( $s sh -c 'for key in s u b; do echo $key > /proc/sysrq-trigger || exit 1; [ $key = b ] || sleep 1; done' 2>&1 ) && { echo going; exit 0; }
echo failed $why $more $last
"#;
