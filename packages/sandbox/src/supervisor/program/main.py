"""
Supervises one script in a sandbox: reads a job from stdin, runs it in a child, and tells of it in frames on stdout (`frames.ts` says which).

It is the first process of a sandbox whose walls (namespaces, mounts, cgroups) stand already, and adds what can be had from within: bounds
of the child's resources, no capabilities, no new privileges, and a filter of system calls. It counts what the sandbox uses, and ends it
all when the script ends, its time or its memory is over, or nobody listens any more. Python 3.9 or newer, standard library only.

Its one argument is JSON: `memoryBytes`, `processes`, `fileBytes`, `openFiles`, `folder` (where scripts may write), `packagesFolder`,
`packagesBytes` (of what a job brings along to be unpacked there),
`preload` (modules to import while there is no job; those that are missing are left out), `endsWithInput` (the end of stdin ends a script),
`isMemoryHeld` (the platform counts and bounds the memory of all processes together; where it does not, only what the supervisor can count may be had).
"""

# A call that finds no warm sandbox waits for these imports, and for theirs. `json`, `base64`, `platform` and `hashlib` would double that time.
import _signal as signal
import gc
import os
import select
import sys

from .files import tell_file, tell_files
from .frames import FLUSH_S, fail, flush, say, words_of
from .job import read_job, time_of
from .linux import PR_SET_CHILD_SUBREAPER, prctl, set_dumpable
from .script import Script
from .settings import CONFIG, LIMITS, whole
from .shown import tell_shown
from .within import find_packages

# Of the pipe: see `frames.ts`.
PROTOCOL = 3


def main():
    prepare()
    say(frame="ready", protocol=PROTOCOL, python=".".join(map(str, sys.version_info[:3])))
    flush(FLUSH_S)
    preload()
    job = read_job()
    time_ms = time_of(job)
    say(frame="started", job=job["job"], timeoutMs=time_ms)
    flush(FLUSH_S)
    os.set_blocking(0, False)
    out_files, out_bytes = job.get("outFiles"), job.get("outBytes")
    script = Script(job, time_ms)
    end = script.follow()
    if script.shown is not None:
        tell_shown(script.shown)
    if out_files is not None:
        end["passedFiles"] = tell_files(whole(out_files, 0), whole(out_bytes, 0), tell_file)
    say(frame="ended", **end)
    flush(FLUSH_S)
    os._exit(0)


def prepare():
    CONFIG.update((name, whole(CONFIG[name], 0)) for name in LIMITS)
    # The first process of a pid namespace gets no signal from within that it has no handler for: SIGINT has one by default.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform == "linux":
        set_dumpable(False)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    find_packages()


def preload():
    """Imports what scripts may want, for as long as there is no job: one that is there already does not wait for what it may not want."""
    for name in CONFIG["preload"]:
        if select.select([0], [], [], 0)[0]:
            break
        try:
            __import__(name)
        except ImportError:
            pass
    # The child shares the present objects for as long as nobody writes to them, and collecting garbage writes.
    gc.collect()
    gc.freeze()


try:
    main()
except Exception as failure:
    fail(words_of(failure))
