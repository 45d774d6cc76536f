"""The processes of the sandbox: who they are, what they use, and their end."""

import _signal as signal
import os

from .settings import CONFIG

# In RAM, in swap, and the tables of both.
MEMORY_PARTS = b"VmRSS", b"VmSwap", b"VmPTE"
STATUS_NUMBERS = {*MEMORY_PARTS, b"Threads"}

# Of its own cgroup, where a sandbox sees it: version 2, and 1.
MEMORY_EVENTS = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"]


def open_process(pid):
    """A file that can be read once the process has ended; none where there is no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def kill_all(script_pid):
    """Everything in the sandbox; where that is no pid namespace of its own, the script and all that descends from it."""
    if os.getpid() == 1:
        kill(-1)
        return
    kill(-script_pid)
    for pid in descendants():
        kill(pid)


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def descendants():
    children = {}
    for pid in process_ids():
        try:
            with open(f"/proc/{pid}/stat") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        children.setdefault(parent, []).append(pid)
    found = []
    waiting = [os.getpid()]
    while waiting:
        for pid in children.get(waiting.pop(), []):
            found.append(pid)
            waiting.append(pid)
    return found


def process_ids():
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []


def usage():
    """Bytes of memory and number of threads of all processes but this one. What they share is counted once, as soon as that matters."""
    pids = [pid for pid in process_ids() if pid != 1] if os.getpid() == 1 else descendants()
    used, threads = 0, 0
    for pid in pids:
        status = status_of(pid)
        used += sum(status.get(name, 0) for name in MEMORY_PARTS) * 1024
        threads += status.get(b"Threads", 0)
    if used > CONFIG["memoryBytes"] and len(pids) > 1:
        used = sum(map(proportional_bytes, pids))
    return used, threads


def status_of(pid):
    try:
        with open(f"/proc/{pid}/status", "rb", buffering=0) as file:
            lines = (line.partition(b":") for line in file.read(16_384).split(b"\n"))
            return {name: int(value.split()[0]) for name, _, value in lines if name in STATUS_NUMBERS}
    except (OSError, IndexError, ValueError):
        return {}


def killed_for_memory():
    """How many processes the kernel has ended as memory was used up: it ends one, and the others go on."""
    for path in MEMORY_EVENTS:
        try:
            with open(path) as file:
                return sum(int(line.split()[1]) for line in file if line.startswith("oom_kill "))
        except (OSError, IndexError, ValueError):
            pass
    return 0


def proportional_bytes(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return sum(int(line.split()[1]) * 1024 for line in file if line.startswith(("Pss:", "SwapPss:"))) + status_of(pid).get(b"VmPTE", 0) * 1024
    except OSError:
        pass
    status = status_of(pid)
    return sum(status.get(name, 0) for name in MEMORY_PARTS) * 1024
