export interface ProgramScriptOptions {
  /** Where it starts. */
  readonly folder: string;
  /** Whether what it writes to stderr goes to stdout, in the order in which it is written. @default false */
  readonly isOneStream?: boolean | undefined;
  /** The way out, in paths of the sandbox: the socket of a proxy, and the certificates that programs are to trust. @default none */
  readonly way?: { readonly socket: string; readonly certificates: string } | undefined;
}

/** A process beside the program: programs know a proxy by its port, and the sandbox's own network has nothing but this one. */
const RELAY = `
import socket, threading
listener = socket.create_server(("127.0.0.1", 0))
port = listener.getsockname()[1]

def pass_on(source, target):
    try:
        while True:
            data = source.recv(65536)
            if not data: break
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target): end.close()

def relay(client):
    gate = socket.socket(socket.AF_UNIX)
    try:
        gate.connect(WAY["socket"])
    except OSError:
        client.close()
        return
    threading.Thread(target=pass_on, args=(client, gate), daemon=True).start()
    pass_on(gate, client)

if os.fork() == 0:
    nothing = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2): os.dup2(nothing, stream)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=relay, args=(client,), daemon=True).start()
listener.close()
for name in ("http_proxy", "https_proxy"): os.environ[name] = os.environ[name.upper()] = f"http://127.0.0.1:{port}"
for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "NODE_EXTRA_CA_CERTS"): os.environ[name] = WAY["certificates"]
`;

/**
 * A script that becomes another program of the sandbox. The bounds and the filter of the script's process stay; signals that Python ignores are as programs
 * expect them.
 * @param command the path of the program and its arguments, well-formed and without NUL
 */
export function programScript(command: readonly string[], { folder, isOneStream = false, way }: ProgramScriptOptions): string {
  return [
    "import os, signal",
    "os.unlink(__file__)",
    `os.chdir(${JSON.stringify(folder)})`,
    'for name in ("ROCKBOT_INPUT", "PYTHONDONTWRITEBYTECODE"): os.environ.pop(name, None)',
    "for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGXCPU): signal.signal(number, signal.SIG_DFL)",
    ...(way === undefined ? [] : [`WAY = ${JSON.stringify(way)}`, RELAY]),
    ...(isOneStream ? ["os.dup2(1, 2)"] : []),
    `command = ${JSON.stringify(command)}`, // strings of JSON are strings of Python
    "os.execv(command[0], command)",
  ].join("\n");
}
