"""The files that go into a sandbox with a job, and those that a script leaves in the end."""

import binascii
import errno
import os
import stat

from .frames import CHUNK_BYTES, FLUSH_S, fail, flush, pending, say
from .settings import CONFIG, read_json

# Files are told at the pace of their reader: so much waits for it.
MAX_TOLD_BYTES = 256 * 1024
# What a script leaves is in this folder of its own one. Where the platform can, `/out` leads there.
OUT = "out"


def write_files(incoming, size, folder, modes):
    """Writes files, each a line of JSON and its bytes (`pack-layer.ts`), below a folder. Of `modes` the second is for what can be executed."""
    end = incoming.taken + size
    while incoming.taken < end:
        file = read_json(incoming.line())
        path, left = file["path"].split("/"), file["bytes"]
        if any(part in ("", ".", "..") for part in path) or left > end - incoming.taken:
            fail("a file of the job leads elsewhere, or is too large")
        os.makedirs(os.path.join(folder, *path[:-1]), exist_ok=True)
        opened = os.open(os.path.join(folder, *path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, modes[file["executable"]])
        while left > 0:
            data = incoming.some(left)
            left -= len(data)
            while data:
                data = data[write_some(opened, data) :]
        os.close(opened)


def write_some(opened, data):
    try:
        return os.write(opened, data)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        fail("the files of the job do not fit into the sandbox")


def make_out_folder():
    os.mkdir(os.path.join(CONFIG["folder"], OUT))


def tell_files(most_files, most_bytes, tell, known=None):
    """
    Tells of the files that the script has left. The reader has the rights of the script, and sees no more: a link, or what is no file, is passed over.
    Those of `known` are as they were told before, and are not told again. Returns how many were passed over.
    """
    try:
        folder = os.open(os.path.join(CONFIG["folder"], OUT), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return 0
    known = {} if known is None else known
    told, passed, left = 0, 0, most_bytes
    for name in sorted(os.listdir(folder)):
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        except OSError:
            passed += 1
            continue
        status = os.fstat(file)
        facts = status.st_ino, status.st_size, status.st_mtime_ns
        if known.get(name) == facts:
            pass
        elif told == most_files or not stat.S_ISREG(status.st_mode) or status.st_size > left:
            passed += 1
        else:
            known[name] = facts
            told += 1
            left -= status.st_size
            tell(name, file, status.st_size)
        os.close(file)
    os.close(folder)
    return passed


def tell_file(name, file, size):
    """In the supervisor, once nothing of the script runs any more."""
    say(frame="file", name=name, bytes=size)
    while size > 0:
        data = os.read(file, min(CHUNK_BYTES, size))
        if not data:
            fail("a file of the script has become shorter")
        size -= len(data)
        say(frame="fileData", data=binascii.b2a_base64(data, newline=False).decode())
        if len(pending) > MAX_TOLD_BYTES:
            flush(FLUSH_S)
