"""
Installs wheels with pip in a sandbox that has no network: `installer-frames.ts` says what it and the process outside say to each other.

Connections that pip makes come to a proxy on the loopback address, whose bytes go over stdin and stdout to the process outside: it alone decides
what they reach. What was installed is told file by file. Only wheels are taken, so that nothing of a package runs here. Python 3.9 or newer,
standard library and pip only.
"""

import base64
import compileall
import json
import os
import platform
import py_compile
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading

CHUNK_BYTES = 48 * 1024
MAX_CONNECTIONS = 32
KEPT_WORDS_BYTES = 8_000

lock = threading.Lock()


def main():
    say(frame="ready", python=platform.python_version())
    request = json.loads(sys.stdin.buffer.readline())
    relay = Relay()
    folder = tempfile.mkdtemp()
    target = os.path.join(folder, "layer")
    os.mkdir(target)
    report = os.path.join(folder, "report.json")
    exit_code, words = run_pip(arguments(request, relay.port, target, report, folder), folder)
    if exit_code != 0:
        say(frame="failed", words=words)
        return
    say(frame="resolved", packages=pinned(report), platform=f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}")
    # By content, not by time, which does not survive the way: a host that writes the files anew may keep the compiled ones.
    compileall.compile_dir(target, quiet=2, legacy=False, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    for path in files_in(target):
        send_file(target, path)
    say(frame="installed")


def arguments(request, port, target, report, folder):
    options = [
        *("--isolated", "--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir", "--no-color", "--progress-bar", "off"),
        *("--only-binary", ":all:", "--no-compile", "--no-warn-script-location", "--target", target, "--report", report),
        *("--retries", "1", "--timeout", "15", "--proxy", f"http://127.0.0.1:{port}"),
    ]
    options += ["--no-index"] if request["index"] is None else ["--index-url", request["index"]]
    if request["wheels"] is not None:
        options += ["--find-links", request["wheels"]]
    for host in request["plainHosts"]:
        options += ["--trusted-host", host]
    if request["certificates"] is not None:
        certificates = os.path.join(folder, "certificates.pem")
        with open(certificates, "w", encoding="utf-8") as file:
            file.write(request["certificates"])
        options += ["--cert", certificates]
    return ["install", *options, "--", *request["requirements"]]


def run_pip(pip_arguments, folder):
    """Returns its exit code and the end of what it says."""
    environment = {**os.environ, "HOME": folder, "TMPDIR": folder}
    command = [sys.executable, "-I", "-m", "pip", *pip_arguments]
    pip = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, cwd=folder)
    words = b""
    for line in pip.stderr:
        words = (words + line)[-KEPT_WORDS_BYTES:]
    return pip.wait(), words.decode(errors="replace")


def pinned(report):
    with open(report, encoding="utf-8") as file:
        installed = json.load(file)["install"]
    return [
        {
            "name": item["metadata"]["name"],
            "version": item["metadata"]["version"],
            "sha256": item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256", ""),
        }
        for item in installed
    ]


def files_in(target):
    for folder, folders, names in os.walk(target):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                yield path


def send_file(target, path):
    name = os.path.relpath(path, target)
    executable = os.access(path, os.X_OK)
    with open(path, "rb") as file:
        data = file.read(CHUNK_BYTES)
        while True:
            following = file.read(CHUNK_BYTES)
            say(frame="file", path=name, executable=executable, data=encoded(data), last=not following)
            if not following:
                return
            data = following


class Relay:
    """A listener whose connections go over stdin and stdout, each under a number."""

    def __init__(self):
        self.connections = {}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        threading.Thread(target=self.receive, daemon=True).start()

    def accept(self):
        for number in range(1, 1 << 31):
            connection, _ = self.listener.accept()
            if len(self.connections) >= MAX_CONNECTIONS:
                connection.close()
                continue
            self.connections[number] = connection
            say(frame="opened", connection=number)
            threading.Thread(target=self.send, args=(number, connection), daemon=True).start()

    def send(self, number, connection):
        try:
            data = connection.recv(CHUNK_BYTES)
            while data:
                say(frame="sent", connection=number, data=encoded(data))
                data = connection.recv(CHUNK_BYTES)
        except OSError:
            pass
        say(frame="closed", connection=number)
        self.connections.pop(number, None)

    def receive(self):
        for line in sys.stdin.buffer:
            message = json.loads(line)
            connection = self.connections.get(message["connection"])
            if connection is None:
                continue
            try:
                if "data" in message:
                    connection.sendall(base64.b64decode(message["data"]))
                else:
                    connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        os._exit(1)  # nobody waits for the installation any more


def encoded(data):
    return base64.b64encode(data).decode()


def say(**frame):
    line = json.dumps(frame, separators=(",", ":")).encode() + b"\n"
    with lock:
        while line:
            try:
                line = line[os.write(1, line) :]
            except OSError:
                os._exit(1)  # nobody listens any more


main()
