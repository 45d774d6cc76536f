"""Calls of Linux that Python has no names for."""

import ctypes
import os

from .settings import libc

PR_SET_DUMPABLE = 4
PR_CAPBSET_READ = 23
PR_CAPBSET_DROP = 24
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4


def prctl(option, value, pointer=None):
    # Unused arguments must be 0, and all are of a register's width.
    if libc.prctl(option, ctypes.c_ulong(value), pointer, ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")


def set_dumpable(is_dumpable):
    """Who is not dumpable cannot be traced, nor its memory and files opened, by others of its user."""
    prctl(PR_SET_DUMPABLE, 1 if is_dumpable else 0)
