//! POSIX shell scripts for hosts without an agent; BusyBox has their programs too.

/// Makes a place that programs can be run from, and reports it; once the program is there, waits
/// for the end of its lease, and removes the place. `$1`: the program's SHA-256; `$2`: `keep` for a
/// program that outlives the connection; `$3`: the lease, as the program reads it; `$4`: the KiB
/// that the program takes.
///
/// It answers `connection` with the addresses of the connection as ssh tells them, at once; then
/// `netassay ARCHITECTURE USER-ID CAPABILITIES HAS SUDO DIRECTORY`, and `sudo` with why
/// there is none for a login that is not root.
// A kept program is copied into the place, and only what its SHA-256 was compared of is run. It is
// kept only where nobody but the login and root can have put it: `own` asks for the owner and the
// mode of every directory on the way, as it is named and as it is.
//
// This shell removes the directory, unless it is killed. The login's next connection removes what
// a kill left: directories that the login owns, with the name and the content of such a one, whose
// `lock` nobody holds. The shell holds it, and the program inherits it; numbers of processes would
// mean others in another container. A directory that is removed before it is locked is made anew.
// Without `flock`, and for directories of other boots (the boot is in the name, and may be that of
// another machine which shares the file system), a directory is removed after 30 days. It is
// renamed before it is removed, so that nothing more arrives in it.
pub(crate) const KEEP: &str = r#"
printf 'connection %s\n' "$SSH_CONNECTION"
umask 077
u=$(id -u) g=$(id -g)
b=; read -r b 2>/dev/null </proc/sys/kernel/random/boot_id; b=${b%%-*}
command -v flock >/dev/null 2>&1 || b=unlocked
f= k= part=
away() { mv "$1" "$1.x" 2>/dev/null && rm -rf "$1.x"; }
trap '[ -z "$f" ] || away "$f"; [ -z "$part" ] || rm -f "$part"' EXIT
trap 'exit 1' HUP INT TERM PIPE
sweep() {
  for d in "$1"/netassay.????????.??????*; do
    [ -d "$d" ] && [ ! -L "$d" ] && [ -O "$d" ] || continue
    ls -A "$d" 2>/dev/null | grep -Eqv '^(lock|netassay|(try|part)\.[[:alnum:]]{6}|[0-9a-f]{64})$'; [ $? = 1 ] || continue
    case $d in
      "$1/netassay.$b."*) (exec 9<>"$d/lock" && flock -n 9 && away "$d") 2>/dev/null ;;
      *) [ -e "$d/lock" ] && [ -n "$(find "$d" -prune -mtime +30 2>/dev/null)" ] && away "$d" ;;
    esac
  done
}
place() {
  while f=$(mktemp -d "$1/netassay.$b.XXXXXX" 2>&1); do
    { command exec 9<>"$f/lock" && { flock 9 || :; } && [ -e "$f/lock" ]; } 2>/dev/null && return
    [ ! -d "$f" ] || { away "$f"; return 1; }
  done
  return 1
}
runs() { t=$(mktemp "$1/try.XXXXXX" 2>/dev/null) || return 1; printf '#!/bin/sh\n' > "$t" && chmod 700 "$t" && "$t" 2>/dev/null; r=$?; rm -f "$t"; return $r; }
try_sudo() {
  command -v sudo >/dev/null 2>&1 || { echo "sudo is not installed"; return; }
  w=$(sudo -n true 2>&1) && echo yes || echo $(printf %s "${w:-sudo refuses}" | head -c 1000)
}
own() {
  p=$1
  while [ -n "$p" ]; do
    if [ -e "$p" ] || [ -L "$p" ]; then
      set -- $(ls -ldn "$p")
      why="$p belongs to user $3"; [ "$3" = 0 ] || [ "$3" = "$u" ] || return 1
      why="others may write $p"
      case $1 in
        l*|?????????[tT]*) ;;
        ????????w*) return 1 ;;
        ?????w*) [ "$4" = "$g" ] || return 1 ;;
      esac
    fi
    p=${p%/*}
  done
}
for p in "$TMPDIR" /tmp /var/tmp /dev/shm "$HOME"; do
  [ -z "$p" ] || sweep "$p"
done
tried=
for p in "$TMPDIR" /tmp /var/tmp /dev/shm "$HOME"; do
  [ -n "$p" ] || continue
  place "$p" || { tried="$tried; $f" f=; continue; }
  free=$(df -Pk "$f" 2>/dev/null | sed -n 's/.* \([0-9][0-9]*\)  *[0-9]*% .*/\1/p')
  if [ "${free:-$4}" -lt "$4" ]; then why="has $free KiB free"
  elif runs "$f"; then break
  else why="lets no program run"; fi
  away "$f"; f= tried="$tried; $p $why"
done
[ -n "$f" ] || { echo "no directory takes netassay ($4 KiB): ${tried#; }; make room in one of them, or name another one in TMPDIR" >&2; exit 1; }
if [ "$2" = keep ]; then
  k=${XDG_CACHE_HOME:-$HOME/.cache}/netassay/agents/$1
  case $k in
    /*) own "$k" && why="it cannot be made" && mkdir -p "$k" && r=$(cd "$k" && pwd -P) && own "$r" ;;
    *) why="the path does not begin with /"; false ;;
  esac || { echo "cannot keep netassay in $k: $why; set XDG_CACHE_HOME to a directory of this login's own, or leave out --keep-agent" >&2; exit 1; }
  k=$r
  rm -f "$k"/part.??????
  [ -f "$k/netassay" ] && cp "$k/netassay" "$f/netassay"
fi
has=no; printf '%s  %s\n' "$1" "$f/netassay" | sha256sum -c >/dev/null 2>&1 && chmod 700 "$f/netassay" && has=yes
sudo=
[ "$u" = 0 ] || sudo=$({ exec 2>/dev/null 9>&-; try_sudo & { sleep 5; echo "sudo did not answer within 5 s"; } & } | head -n 1)
case $sudo in yes) why=;; *) why=$sudo sudo=no;; esac
caps=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status 2>/dev/null)
printf 'netassay %s %s %s %s %s %s\n' "$(uname -m)" "$u" "${caps:-unknown}" $has $sudo "$f"
printf 'sudo %s\n' "$why"
read -r word
[ "$word" = hold ] || exit 0
if [ -n "$k" ] && [ $has = no ] && part=$(mktemp "$k/part.XXXXXX"); then
  { cp "$f/netassay" "$part" && chmod 700 "$part" && mv -f "$part" "$k/netassay"; } 2>/dev/null
fi
"$f/netassay" hold "$3"
exit 0
"#;

/// Takes a file into the directory `$1` under the name `$3`, which it gets once its SHA-256 is
/// `$2`.
pub(crate) const TAKE: &str = r#"
umask 077
p=$(mktemp "$1/part.XXXXXX") || exit 1
trap 'rm -f "$p"' EXIT
trap 'exit 1' HUP INT TERM PIPE
cat > "$p"
printf '%s  %s\n' "$2" "$p" | sha256sum -c >/dev/null 2>&1 || { echo "$3 did not arrive as it was sent (SHA-256)" >&2; exit 1; }
chmod 700 "$p" && mv -f "$p" "$1/$3" && echo taken
"#;

/// Becomes the program. `$1`: the directory; `$2`: `yes` if by sudo; then the program's arguments.
// If the keeping connection has ended, ssh connects again by itself, and finds no program.
pub(crate) const RUN: &str = r#"
p=$1/netassay; s=$2; shift 2
[ -x "$p" ] || { echo "netassay is no longer on this machine: it restarted, or the connection that kept netassay there ended; start again (--resume goes on)" >&2; exit 1; }
if [ "$s" = yes ]; then exec sudo -n -- "$p" "$@"; fi
exec "$p" "$@"
"#;

/// `$1`: `yes` to use sudo, as `$s` before a command. `$n`: the note of the default kernel.
macro_rules! as_root {
    ($script:literal) => {
        concat!(
            "PATH=$PATH:/usr/sbin:/sbin\ns=; [ \"$1\" = yes ] && s=\"sudo -n --\"\nn=/var/lib/netassay/default-kernel\n",
            $script
        )
    };
}

pub(crate) const BOOT: &str = as_root!(
    r#"
echo "boot $(cat /proc/sys/kernel/random/boot_id) $(uname -r) $($s cat $n 2>/dev/null)"
"#
);

/// It answers `kernel RELEASE` for each image; `grub NAME` with the storage of GRUB's environment,
/// and `menu LINE` for each line that counts; `kexec` where that can be used; `end`.
pub(crate) const KERNELS: &str = as_root!(
    r#"
for f in /boot/vmlinuz-*; do [ -e "$f" ] && echo "kernel ${f#/boot/vmlinuz-}"; done
for g in grub grub2; do
  e=/boot/$g/grubenv
  command -v "$g-reboot" >/dev/null 2>&1 && $s test -f "$e" || continue
  echo "grub $g" $($s "$g-probe" --target=abstraction "$e" 2>/dev/null) $($s "$g-probe" --target=fs "$e" 2>/dev/null)
  $s cat "/boot/$g/grub.cfg" 2>/dev/null | grep -E '(\{|^[[:space:]]*\})[[:space:]]*$|^[[:space:]]*linux(16|efi)?[[:space:]]|next_entry' | cut -c1-2000 | sed 's/^/menu /'
  break
done
command -v kexec >/dev/null 2>&1 && [ "$(cat /proc/sys/kernel/kexec_load_disabled 2>/dev/null)" = 0 ] && echo kexec
echo end
"#
);

/// `$2`: as for [`REBOOT`]. Removes a choice that GRUB could not remove, and the note if the host
/// runs its default kernel.
pub(crate) const SETTLE: &str = as_root!(
    r#"
case $2 in grub*) ! $s "$2-editenv" - list | grep -q '^next_entry=.' || $s "$2-editenv" - unset next_entry || exit ;; esac
if [ "$2" = default ] || [ "$($s cat $n 2>/dev/null)" = "$(uname -r)" ]; then $s rm -f $n || exit; fi
echo settled
"#
);

/// Restarts the host. `$2`: `default`, or by what another kernel is chosen for this boot (`grub`,
/// `grub2`, `kexec`); `$3`: GRUB's entry, or the kernel's release; `$4`: the identity of the boot
/// that is to end. It answers as [`BOOT`]; then `failed WHY` if every way to restart failed, or
/// nothing more that counts.
// Which kernel is the default is noted first. What kexec has loaded starts at a restart by
// systemd, or at once; a restart with the default unloads it.
//
// The init system is asked first. Only where there is none, or it refuses, is the kernel told to
// write out what it has (`s`), to mount everything read-only (`u`) and to restart (`b`).
pub(crate) const REBOOT: &str = as_root!(
    r#"
echo "boot $(cat /proc/sys/kernel/random/boot_id) $(uname -r) $($s cat $n 2>/dev/null)"
[ "$(cat /proc/sys/kernel/random/boot_id)" = "$4" ] || { echo gone; exit 0; }
fail() { [ "$($s cat $n 2>/dev/null)" != "$(uname -r)" ] || $s rm -f $n; echo failed $why; exit 0; }
if [ "$2" = default ]; then
  [ "$(cat /sys/kernel/kexec_loaded 2>/dev/null)" != 1 ] || why=$($s kexec -u 2>&1) || fail
else
  why=$($s sh -c 'mkdir -p -m 700 "${0%/*}" && { [ -s "$0" ] || uname -r > "$0"; }' $n 2>&1) || fail
fi
case $2 in
grub*)
  why=$($s "$2-reboot" "$3" 2>&1) || fail ;;
kexec)
  i=; for f in "/boot/initrd.img-$3" "/boot/initramfs-$3.img" "/boot/initrd-$3"; do [ -e "$f" ] && { i=$f; break; }; done
  why=$($s kexec -l "/boot/vmlinuz-$3" ${i:+"--initrd=$i"} --reuse-cmdline 2>&1) || fail
  if [ -d /run/systemd/system ]; then
    why=$($s systemctl kexec 2>&1) || fail
  else
    sync
    { sleep 1; $s kexec -e; } </dev/null >/dev/null 2>&1 &
  fi
  echo going; exit 0 ;;
esac
why=$( { [ -d /run/systemd/system ] && $s systemctl reboot; } 2>&1 ) && { echo going; exit 0; }
more=$( $s reboot 2>&1 ) && { echo going; exit 0; }
last=$( $s sh -c 'for key in s u b; do echo $key > /proc/sysrq-trigger || exit 1; [ $key = b ] || sleep 1; done' 2>&1 ) && { echo going; exit 0; }
why="$why $more $last"; fail
"#
);
