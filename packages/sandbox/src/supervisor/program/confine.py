"""The bounds that a process of the script gives itself, for good: what it may use, and what it may ask of the kernel."""

import ctypes
import os
import resource
import struct
import sys

from .linux import PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, PR_CAPBSET_DROP, PR_CAPBSET_READ, PR_SET_NO_NEW_PRIVS, prctl, set_dumpable
from .settings import CONFIG, libc
from .system_calls import filter_system_calls

# Of Landlock, alike on all machines.
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_CREATE_RULESET_VERSION, LANDLOCK_RULE_PATH_BENEATH = 1, 1
# Before version 2 nothing may be renamed into another folder; 3 knows of truncation.
LEAST_LANDLOCK, LANDLOCK_WITH_TRUNCATE = 2, 3
# To write to files; to remove and to make files, folders and all else that has a name; to rename and link.
WRITES, TRUNCATE = 1 << 1 | 0x3FF << 4, 1 << 14


def confine(time_ms):
    # For want of a supervisor only: one process may use all processors for all of its time.
    cpu_seconds = (time_ms // 1000 + 2) * (os.cpu_count() or 1)
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)
    lower(resource.RLIMIT_FSIZE, CONFIG["fileBytes"])
    lower(resource.RLIMIT_NOFILE, CONFIG["openFiles"])
    lower(resource.RLIMIT_STACK, 8 * 1024 * 1024)
    if sys.platform != "linux":
        return
    # Addresses are no memory, and libraries reserve many: this only keeps one process from taking all before it is seen.
    lower(resource.RLIMIT_AS, max(8 * CONFIG["memoryBytes"], 2 << 30))
    if has_own_users():
        lower(resource.RLIMIT_NPROC, CONFIG["processes"] + 2)  # the supervisor, and one too many, which shows that the script wanted more
    set_dumpable(True)
    prefer_as_victim()
    os.nice(5)
    drop_capabilities()
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if CONFIG["packagesBytes"] > 0:
        allow_writing([CONFIG["folder"], "/dev", "/proc"])
    filter_system_calls()


def prefer_as_victim():
    """When the kernel has to end something for its memory, this is it, and the supervisor can tell of it."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass


def lower(kind, soft, hard=None):
    _, current = resource.getrlimit(kind)
    hard = soft if hard is None else hard
    if current != resource.RLIM_INFINITY:
        soft, hard = min(soft, current), min(hard, current)
    resource.setrlimit(kind, (soft, hard))


def has_own_users():
    """Whether processes of this user are counted in this sandbox alone."""
    with open("/proc/self/uid_map") as file:
        return file.read().split() != ["0", "0", "4294967295"]


def drop_capabilities():
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(64):
        if libc.prctl(PR_CAPBSET_READ, ctypes.c_ulong(capability), None, None, None) != 1:
            continue
        # Only a process with CAP_SETPCAP may; without new privileges the others cannot gain any either.
        libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), None, None, None)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def allow_writing(folders):
    """
    Refuses what changes files anywhere else, though its user may: a folder that was made for the sandbox belongs to all users in it, and is not bounded at
    once. Where the kernel has no Landlock of use, or the container's runtime refuses it, what holds is what the platform says of that folder.
    """
    version = libc.syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), LANDLOCK_CREATE_RULESET_VERSION)
    if version < LEAST_LANDLOCK:
        return
    writes = WRITES | (TRUNCATE if version >= LANDLOCK_WITH_TRUNCATE else 0)
    rules = must(libc.syscall(LANDLOCK_CREATE_RULESET, struct.pack("Q", writes), ctypes.c_size_t(8), 0))
    for folder in folders:
        opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        must(libc.syscall(LANDLOCK_ADD_RULE, rules, LANDLOCK_RULE_PATH_BENEATH, struct.pack("=Qi", writes, opened), 0))
        os.close(opened)
    must(libc.syscall(LANDLOCK_RESTRICT_SELF, rules, 0))
    os.close(rules)


def must(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
