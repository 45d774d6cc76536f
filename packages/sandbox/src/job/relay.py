"""The way out of a sandbox. Programs know a proxy by its port, and the sandbox's own network has nothing but this one."""
import os
import socket
import threading


def pass_on(source, target):
    try:
        while True:
            data = source.recv(65536)
            if not data:
                break
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            end.close()


def relay(client, path):
    gate = socket.socket(socket.AF_UNIX)
    try:
        gate.connect(path)
    except OSError:
        client.close()
        return
    threading.Thread(target=pass_on, args=(client, gate), daemon=True).start()
    pass_on(gate, client)


def open_way(path, certificates):
    """Leads connections to a port of this machine to the socket `path`, in a process beside this one, and names the port to programs."""
    listener = socket.create_server(("127.0.0.1", 0))
    if os.fork() == 0:
        nothing = os.open("/dev/null", os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        while True:
            client, _ = listener.accept()
            threading.Thread(target=relay, args=(client, path), daemon=True).start()
    port = listener.getsockname()[1]
    listener.close()
    for name in ("http_proxy", "https_proxy"):
        os.environ[name] = os.environ[name.upper()] = f"http://127.0.0.1:{port}"
    for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "NODE_EXTRA_CA_CERTS"):
        os.environ[name] = certificates
