"""
The first program in new namespaces: builds what a sandbox sees, becomes a user without rights, and becomes the supervisor.

Its one argument is JSON: `tree` (null where somebody has built it: `binds` of [outside, inside], read-only, `writable` of the same, and `links` of [target, path]), `devices`,
`storageBytes`, `storageFiles`, `sharedBytes` (of /tmp, and of /dev/shm), `user` (whose rights to have; null: those that it has, as it is not root) and
`command` (what to become). It needs the rights to mount in its namespaces, and keeps none. Each sandbox waits for it, so it imports only what it must.
"""

import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC = 1, 2, 4, 8, 32, 4096, 16384
MNT_DETACH = 2
CLONE_NEWUSER = 0x10000000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 1, 4, 23, 24, 38, 47, 4
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_READ_ONLY, MOUNT_ATTR_NOSUID_NODEV = 442, -100, 0x8000, 1, 6
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
AF_INET, SOCK_DGRAM, SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 2, 2, 0x8913, 0x8914, 1
SIGKILL = 9


def main():
    plan = eval(sys.argv[1], {"null": None, "true": True, "false": False})  # JSON, whose module takes longer to import than all else here
    if plan["tree"] is not None:
        build_tree(**plan["tree"], devices=plan["devices"])
        set_loopback_up()
        check("sethostname", libc.sethostname(b"sandbox", ctypes.c_size_t(7)))
    seal(plan)
    drop_rights(plan["user"])
    # Set anew, as becoming another user has cleared it.
    check("prctl", libc.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(SIGKILL), None, None, None))
    os.execve(plan["command"][0], plan["command"], {"LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"})


def build_tree(binds, writable, links, devices):
    """A root of its own: of the machine's, there is what is bound into it. The old root is out of reach in the end."""
    mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m,nr_inodes=1k")
    os.mkdir("/tmp/old")
    os.mkdir("/tmp/new")
    pivot_root("/tmp", "/tmp/old")
    os.chdir("/")
    mount("tmpfs", "/new", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m,nr_inodes=1k")
    for source, target in binds:
        bind("/old" + source, "/new" + target)
        restrict("/new" + target, MOUNT_ATTR_READ_ONLY | MOUNT_ATTR_NOSUID_NODEV)
    for source, target in writable:
        bind("/old" + source, "/new" + target)
        restrict("/new" + target, MOUNT_ATTR_NOSUID_NODEV)
    build_devices(devices)
    make_folder("/new/proc")
    mount("proc", "/new/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)
    make_folder("/new/tmp")
    for target, path in links:
        make_folder(os.path.dirname("/new" + path))
        os.symlink(target, "/new" + path)
    os.chdir("/new")
    pivot_root(".", ".")
    check("umount", libc.umount2(b".", MNT_DETACH))
    os.chdir("/")


def build_devices(devices):
    make_folder("/new/dev")
    mount("tmpfs", "/new/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k,nr_inodes=64")
    for name in devices:
        bind("/old/dev/" + name, "/new/dev/" + name)
    make_folder("/new/dev/shm")
    for name, target in {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}.items():
        os.symlink("/proc/self/" + target, "/new/dev/" + name)


def seal(plan):
    """Scripts write to two places, both bounded; all else is read-only."""
    options = f"mode=1777,nr_inodes={plan['storageFiles']},size="
    mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, options + str(plan["storageBytes"]))
    mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options + str(plan["sharedBytes"]))
    mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, None)
    mount(None, "/dev", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID, None)
    hide("/proc/keys")


def hide(path):
    if os.path.exists(path):
        mount("/dev/null", path, None, MS_BIND, None)


def drop_rights(user):
    """What is left of them ends when the next program begins: its user has none, and can gain none."""
    drop_bounding_set()
    libc.prctl(PR_CAP_AMBIENT, ctypes.c_ulong(PR_CAP_AMBIENT_CLEAR_ALL), None, None, None)
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        own_users(user)
        drop_bounding_set()
    check("prctl", libc.prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), None, None, None))


def drop_bounding_set():
    for capability in range(64):
        if libc.prctl(PR_CAPBSET_READ, ctypes.c_ulong(capability), None, None, None) == 1:
            libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), None, None, None)


def own_users(user):
    """A user namespace of its own, whose processes are counted in it alone. A kernel that refuses it leaves one wall less, of many."""
    if libc.unshare(CLONE_NEWUSER) != 0:
        return
    # Becoming another user has closed the files of /proc/self to this process.
    check("prctl", libc.prctl(PR_SET_DUMPABLE, ctypes.c_ulong(1), None, None, None))
    for name, text in {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{user} {user} 1"}.items():
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def bind(source, target):
    if os.path.isdir(source):
        make_folder(target)
    else:
        make_folder(os.path.dirname(target))
        open(target, "x").close()
    mount(source, target, None, MS_BIND | MS_REC, None)


def restrict(path, what):
    attributes = what.to_bytes(8, sys.byteorder) + bytes(24)
    result = libc.syscall(MOUNT_SETATTR, AT_FDCWD, os.fsencode(path), AT_RECURSIVE, attributes, ctypes.c_size_t(len(attributes)))
    check("mount_setattr", result)


def make_folder(path):
    os.makedirs(path, mode=0o755, exist_ok=True)


def mount(source, target, kind, flags, options):
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    check(f"mount {kind or 'bind'}", libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3]))


def pivot_root(new, old):
    check("pivot_root", libc.syscall(PIVOT_ROOT[os.uname().machine], os.fsencode(new), os.fsencode(old)))


def set_loopback_up():
    anything = libc.socket(AF_INET, SOCK_DGRAM, 0)
    request = ctypes.create_string_buffer(b"lo", 40)  # struct ifreq: 16 bytes of its name, then its flags
    check("ioctl", libc.ioctl(anything, ctypes.c_ulong(SIOCGIFFLAGS), request))
    flags = int.from_bytes(request[16:18], sys.byteorder) | IFF_UP
    request[16:18] = flags.to_bytes(2, sys.byteorder)
    check("ioctl", libc.ioctl(anything, ctypes.c_ulong(SIOCSIFFLAGS), request))
    os.close(anything)


def check(what, result):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


main()
