"""The filter of system calls."""

import ctypes
import errno
import os
import struct
import sys

from .linux import PR_SET_SECCOMP, prctl
from .settings import CONFIG

# Numbers of system calls on x86_64 and aarch64; None where there is no such call.
DENIED_CALLS = {
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "swapon": (167, 224), "swapoff": (168, 225), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "add_key": (248, 217),
    "request_key": (249, 218), "keyctl": (250, 219), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "fanotify_init": (300, 262), "lookup_dcookie": (212, 18), "reboot": (169, 142), "acct": (163, 89), "syslog": (103, 116),
    "vhangup": (153, 58), "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "sethostname": (170, 161), "setdomainname": (171, 162), "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None),
    "uselib": (134, None), "nfsservctl": (180, 42), "move_pages": (279, 239), "migrate_pages": (256, 238),
    # Memory that outlives its processes, or that no process has mapped: nobody would count it.
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "memfd_create": (319, 279), "memfd_secret": (447, 447),
}  # fmt: skip
CLONE, CLONE3, SOCKET, PERSONALITY, IOCTL, MMAP = (56, 220), (435, 435), (41, 198), (135, 92), (16, 29), (9, 222)
# Calls that change how a process is served. The supervisor has the script's user, so they would reach it, too.
PRLIMIT, SCHED_SETSCHEDULER, SCHED_SETATTR, SETPRIORITY, IOPRIO_SET = (302, 261), (144, 119), (314, 274), (141, 140), (251, 30)
SCHED_SETPARAM, SCHED_SETAFFINITY = (142, 118), (203, 122)

NEW_NAMESPACES = 0x7E020000
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
SOCKET_FAMILIES = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK]
SOCK_RAW = 3
PERSONALITIES = [0, 0xFFFFFFFF]  # as ever, and the question which
SCHED_IDLE, SCHED_RESET_ON_FORK = 5, 0x40000000
ALL_OF_USER = {SETPRIORITY: 2, IOPRIO_SET: 3}
SHARED_ANONYMOUS = 0x21
TERMINAL_INPUT = [0x5412, 0x541C]  # TIOCSTI, TIOCLINUX: to type into a terminal

ALLOW, REFUSE, UNKNOWN, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS, 0x80000000
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS, HIGH_HALF = 0, 4, (16, 24, 32, 40), 4  # offsets in struct seccomp_data; of arguments, the low half


def filter_system_calls():
    """Refuses what no script needs and attacks on the kernel begin with. A machine that is not known has no filter, and all the other walls."""
    machines = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
    if os.uname().machine not in machines or sys.byteorder != "little":
        return
    column, audit_name = machines[os.uname().machine]
    program = system_call_filter(column, audit_name)
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    described = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(buffer)))
    prctl(PR_SET_SECCOMP, 2, described)


def system_call_filter(column, audit_name):
    """Instructions as (code, jump if true, jump if false, operand)."""

    def when_called(call, instructions):
        return [(JUMP_EQUAL, 0, len(instructions), call[column]), *instructions]

    def argument_must(index, mask, allowed):
        checks = [(JUMP_EQUAL, len(allowed) - place, 0, value) for place, value in enumerate(allowed)]
        return [(LOAD, 0, 0, ARGUMENTS[index]), (AND, 0, 0, mask), *checks, (RETURN, 0, 0, REFUSE)]

    def own_target(index):
        return [(LOAD, 0, 0, ARGUMENTS[index]), (JUMP_EQUAL, 1, 0, 0), (RETURN, 0, 0, REFUSE)]

    program = [(LOAD, 0, 0, ARCHITECTURE), (JUMP_EQUAL, 1, 0, audit_name), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    if column == 0:
        # The x32 way of calling has numbers of its own.
        program += [(JUMP_AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, UNKNOWN)]
    for call in DENIED_CALLS.values():
        if call[column] is not None:
            program += when_called(call, [(RETURN, 0, 0, REFUSE)])
    program += when_called(CLONE3, [(RETURN, 0, 0, UNKNOWN)])  # its flags cannot be seen from here; libraries then take clone
    program += when_called(CLONE, [(LOAD, 0, 0, ARGUMENTS[0]), (JUMP_ANY_BIT, 0, 1, NEW_NAMESPACES), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)])
    family = argument_must(0, 0xFFFFFFFF, SOCKET_FAMILIES)
    # Sockets to ask the kernel for its interfaces are raw by name only.
    kind = [(JUMP_EQUAL, 0, 1, AF_NETLINK), (RETURN, 0, 0, ALLOW), (LOAD, 0, 0, ARGUMENTS[1]), (AND, 0, 0, 0xF)]
    kind += [(JUMP_EQUAL, 0, 1, SOCK_RAW), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    program += when_called(SOCKET, family + kind)
    program += when_called(PERSONALITY, [*argument_must(0, 0xFFFFFFFF, PERSONALITIES), (RETURN, 0, 0, ALLOW)])
    for call in (SCHED_SETPARAM, SCHED_SETAFFINITY):
        program += when_called(call, [*own_target(0), (RETURN, 0, 0, ALLOW)])
    idle = [(LOAD, 0, 0, ARGUMENTS[1]), (AND, 0, 0, 0xFFFFFFFF ^ SCHED_RESET_ON_FORK), (JUMP_EQUAL, 0, 1, SCHED_IDLE), (RETURN, 0, 0, REFUSE)]
    program += when_called(SCHED_SETSCHEDULER, [*own_target(0), *idle, (RETURN, 0, 0, ALLOW)])
    program += when_called(SCHED_SETATTR, [(RETURN, 0, 0, UNKNOWN)])  # whose class cannot be seen from here
    for call, which in ALL_OF_USER.items():
        everybody = [(LOAD, 0, 0, ARGUMENTS[0]), (JUMP_EQUAL, 0, 1, which), (RETURN, 0, 0, REFUSE)]
        program += when_called(call, [*own_target(1), *everybody, (RETURN, 0, 0, ALLOW)])
    # To ask for another's limits sets none.
    asks = [(LOAD, 0, 0, ARGUMENTS[2]), (JUMP_EQUAL, 0, 2, 0), (LOAD, 0, 0, ARGUMENTS[2] + HIGH_HALF), (JUMP_EQUAL, 1, 0, 0), (RETURN, 0, 0, REFUSE)]
    program += when_called(PRLIMIT, [(LOAD, 0, 0, ARGUMENTS[0]), (JUMP_EQUAL, len(asks), 0, 0), *asks, (RETURN, 0, 0, ALLOW)])
    if not CONFIG["isMemoryHeld"]:
        # It stays when no process has it in its tables any more, where only the kernel's own count sees it.
        shared = [(LOAD, 0, 0, ARGUMENTS[3]), (AND, 0, 0, SHARED_ANONYMOUS), (JUMP_EQUAL, 0, 1, SHARED_ANONYMOUS), (RETURN, 0, 0, REFUSE)]
        program += when_called(MMAP, [*shared, (RETURN, 0, 0, ALLOW)])
    typing = [(JUMP_EQUAL, len(TERMINAL_INPUT) - place, 0, value) for place, value in enumerate(TERMINAL_INPUT)]
    program += when_called(IOCTL, [(LOAD, 0, 0, ARGUMENTS[1]), *typing, (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)])
    program.append((RETURN, 0, 0, ALLOW))
    return program
