# Makes the root that a container sees, and becomes its command. Runs as the first process of new mount and process namespaces.
# Arguments: ROOT PYTHON_PREFIX ro|rw WORKING_FOLDER [tmpfs:PATH:BYTES | bind:PATH:ro|rw:SOURCE | cgroup::FILE | hostname:NAME]... -- LEAVE... -- COMMAND...
# LEAVE is the program that gives up what rights are left. What goes wrong is written to stderr, or else "ok" when nothing can any more;
# the command's own stderr is file 3.
set -eu
container_path=$PATH
PATH=/usr/sbin:/usr/bin:/sbin:/bin
root=$1 prefix=$2 access=$3 folder=$4
shift 4

read_only() { mount -o remount,bind,ro,nosuid,nodev "$1"; }
show() { mkdir -p "$root$2"; mount --rbind "$1" "$root$2"; read_only "$root$2"; }

mount -t tmpfs -o size=32m,mode=755,nosuid,nodev root "$root"
mkdir -p "$root/proc" "$root/dev/shm" "$root/etc" "$root/tmp" "$root/var" "$root/old"
chmod 1777 "$root/tmp"
show /usr /usr
for name in bin sbin lib lib32 lib64; do
  if [ -L "/$name" ]; then ln -s "$(readlink "/$name")" "$root/$name"; elif [ -d "/$name" ]; then show "/$name" "/$name"; fi
done
if [ "$prefix" != /usr ]; then
  show "$prefix" /usr/local
  show "$prefix" "$prefix"
fi
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t tmpfs -o size=64m,mode=1777,nosuid,nodev shm "$root/dev/shm"
for name in null zero full random urandom; do
  : > "$root/dev/$name"
  mount --bind "/dev/$name" "$root/dev/$name"
done
ln -s /proc/self/fd "$root/dev/fd"
for name in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${name%%:*}" "$root/dev/${name#*:}"; done
printf 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' > "$root/etc/passwd"
ip link set lo up || true

while [ "$1" != -- ]; do
  kind=${1%%:*} rest=${1#*:}
  path=${rest%%:*} rest=${rest#*:}
  case $kind in
    tmpfs)
      mkdir -p "$root$path"
      mount -t tmpfs -o "size=$rest,mode=777,nosuid,nodev" empty "$root$path"
      ;;
    bind)
      source=${rest#*:}
      if [ -d "$source" ]; then mkdir -p "$root$path"; else mkdir -p "$(dirname "$root$path")"; : > "$root$path"; fi
      mount --bind "$source" "$root$path"
      if [ "${rest%%:*}" = ro ]; then read_only "$root$path"; fi
      ;;
    cgroup) echo 0 > "$rest" ;;
    hostname) { echo "$path" > /proc/sys/kernel/hostname; } 2> /dev/null || true ;;
  esac
  shift
done
shift

cd "$root"
pivot_root . old
umount -l /old
rmdir /old
if [ "$access" = ro ]; then read_only /; fi
cd "$folder" || { echo "chdir to cwd (\"$folder\") set in config.json failed: no such file or directory" >&2; exit 128; }

# The command is what stands after the second "--".
for word in "$@"; do
  if [ "${found:-}" = -- ]; then command=$word; break; fi
  found=$word
done
PATH=$container_path
command -v "$command" > /dev/null || { echo "exec: \"$command\": executable file not found in \$PATH" >&2; exit 128; }
echo ok >&2
leave=
while [ "$1" != -- ]; do
  leave="$leave $1"
  shift
done
shift
# shellcheck disable=SC2086 # each of its words is an argument
unset OLDPWD PWD
exec $leave "$@" 2>&3 3>&-
