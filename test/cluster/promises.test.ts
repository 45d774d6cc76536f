import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Cluster } from "./cluster.ts";
import { installScripts, type ScriptsRelease } from "./scripts-release.ts";

/** The bounds of the pool: as many wait warm, and as many are there at most. */
const [FLOOR, CEILING] = [2, 6];

const cluster = await Cluster.open();
const installed = new AsyncDisposableStack();
let it: ScriptsRelease;
let token: string;

beforeAll(async () => {
  it = installed.use(await installScripts(cluster, { settings: { sandboxFloor: FLOOR, sandboxCeiling: CEILING } }));
  token = await cluster.tokenOf(it.namespace, it.manager);
  await it.caller.discovered();
});
afterAll(() => installed.disposeAsync());

const ask = (...args: readonly string[]): Promise<string> => cluster.kubectl(["--namespace", it.namespace, ...args]);
const askOfScripts = (...args: readonly string[]): Promise<string> =>
  cluster.kubectl(["--namespace", it.scripts, ...args]);
const lines = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "");
const pods = async (...args: readonly string[]): Promise<readonly string[]> =>
  lines(await askOfScripts("get", "pods", "--output", "name", ...args));
const warm = () => pods("--selector", "rockbot.dev/state=warm", "--field-selector", "status.phase=Running");

describe("the installation", () => {
  test("is ready with helm --wait, in a namespace where Pod Security enforces the restricted profile", async () => {
    expect(await ask("get", "deployment", it.manager, "--output", "jsonpath={.status.readyReplicas}")).toBe("1");
    expect(
      await cluster.kubectl(["get", "namespace", it.namespace, "--output", "jsonpath={.metadata.labels}"]),
    ).toContain('"pod-security.kubernetes.io/enforce":"restricted"');
  });

  test("has a manager that has seen that scripts reach neither the API server nor the broker", async () => {
    expect(await ask("logs", `deployment/${it.manager}`, "--tail", "200")).toContain(
      '"the API server":"blocked","the broker":"blocked"',
    );
  });
});

describe("a script", () => {
  test("is run by a call over the bus", async () => {
    expect(await it.run("print(6 * 7)")).toBe("42\n");
  });

  test("runs in a pod of the scripts' namespace, which the cluster's events know", async () => {
    const host = (await it.run("import socket; print(socket.gethostname())")).trim();

    expect(host).toMatch(/^rockbot-script-[0-9a-f]{32}$/);
    await expect
      .poll(() =>
        askOfScripts(
          "get",
          "events",
          "--field-selector",
          `involvedObject.name=${host}`,
          "--output",
          "jsonpath={.items[*].reason}",
        ),
      )
      .toContain("Started");
  });

  test("has no capability, no new privileges, and a filter of system calls", async () => {
    const said = await it.run(
      'print([line.strip() for line in open("/proc/self/status") if line[:7] in ("CapEff:", "NoNewPr", "Seccomp")])',
    );
    expect(said).toMatch(/CapEff:.t0{16}.*NoNewPrivs:.t1.*Seccomp:.t2/);
  });

  test("has no token and no variables of Services, cannot write its root, and is not root", async () => {
    const script = `
import os
print(os.path.exists("/var/run/secrets/kubernetes.io"), [name for name in os.environ if "KUBERNETES" in name or "SERVICE" in name], os.getuid() > 0)
for path in ["/x", "/dev/mqueue/x"]:
    try: open(path, "w"); print("written")
    except OSError as error: print(error.strerror)
`;
    expect(await it.run(script)).toBe("False [] True\nRead-only file system\nRead-only file system\n");
  });
});

describe("the warm pool", () => {
  test("keeps as many pods as its floor", async () => {
    await expect.poll(async () => (await warm()).length).toBeGreaterThanOrEqual(FLOOR);
  });

  test("gives a warm pod to a call", async () => {
    await expect.poll(async () => (await warm()).length).toBeGreaterThanOrEqual(FLOOR);
    const { structured } = await it.caller.call(
      "execute_python_script",
      { script: "print(1)" },
      { timeoutMs: 120_000 },
    );
    expect(structured).toMatchObject({ is_warm: true });
  });

  test("answers more calls at once than it may have pods", async () => {
    const numbers = Array.from({ length: CEILING + 2 }, (_, index) => index);
    expect(await Promise.all(numbers.map((number) => it.run(`import time; time.sleep(1); print(${number})`)))).toEqual(
      numbers.map((number) => `${number}\n`),
    );
  });
});

describe("the network", () => {
  /** What there is to be reached: the broker, the API server, the kubelet, the manager, and the name service. */
  async function targets(): Promise<{ readonly tcp: readonly (readonly [string, number])[]; readonly dns: string }> {
    const path = (where: readonly string[], path: string): Promise<string> =>
      cluster.kubectl([...where, "--output", `jsonpath={${path}}`]);
    const [service, node, manager, dns] = await Promise.all([
      path(["--namespace", "default", "get", "service", "kubernetes"], ".spec.clusterIP"),
      path(["get", "nodes"], '.items[0].status.addresses[?(@.type=="InternalIP")].address'),
      path(
        ["--namespace", it.namespace, "get", "pods", "--selector", "app.kubernetes.io/name=scripts-manager"],
        ".items[0].status.podIP",
      ),
      path(["--namespace", "kube-system", "get", "service", "kube-dns"], ".spec.clusterIP"),
    ]);
    const endpoint = await path(
      ["--namespace", "default", "get", "endpointslices", "kubernetes"],
      ".endpoints[0].addresses[0]",
    );
    const port = Number(
      await path(["--namespace", "default", "get", "endpointslices", "kubernetes"], ".ports[0].port"),
    );
    const broker = it.servers.brokerAddresses.map((address) => [address, 5672] as const);
    return { tcp: [...broker, [service, 443], [endpoint, port], [node, 10_250], [manager, 8_481]], dns };
  }

  const probe = ({ tcp, dns }: Awaited<ReturnType<typeof targets>>): string => `
import socket
for address in ${JSON.stringify(tcp)}:
    try: socket.create_connection(tuple(address), 3); print("reached", address)
    except ConnectionRefusedError: print("reached", address)
    except OSError: print("blocked")
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(3)
try:
    s.connect((${JSON.stringify(dns)}, 53))
    s.send(b"\\x12\\x34\\x01\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x0akubernetes\\x07default\\x03svc\\x07cluster\\x05local\\x00\\x00\\x01\\x00\\x01")
    s.recv(512); print("reached", "dns")
except OSError: print("blocked")
`;

  test("lets a script reach nothing that a pod under no policy reaches", async () => {
    const what = await targets();
    const control = lines(await it.servers.python(probe({ ...what, tcp: what.tcp.slice(0, -1) }))); // the manager's own policy lets nobody in
    expect(control.filter((line) => line.startsWith("reached"))).toHaveLength(what.tcp.length);

    expect(lines(await it.run(probe(what)))).toEqual(Array.from({ length: what.tcp.length + 1 }, () => "blocked"));
  });

  test("lets nobody in to a script that listens", async () => {
    const listening = it.run(`
import socket
s = socket.create_server(("0.0.0.0", 7777)); s.settimeout(20)
try: s.accept(); print("somebody came")
except OSError: print("nobody came")
`);
    await expect
      .poll(() => pods("--selector", "rockbot.dev/state=busy", "--field-selector", "status.phase=Running"))
      .not.toEqual([]);
    const addresses = lines(
      (await askOfScripts("get", "pods", "--output", "jsonpath={range .items[*]}{.status.podIP}{'\\n'}{end}")).trim(),
    );
    const knock = `import socket\nfor a in ${JSON.stringify(addresses)}:\n s = socket.socket(); s.settimeout(2)\n print(s.connect_ex((a, 7777)) == 0)`;

    expect(new Set(lines(await it.servers.python(knock)))).toEqual(new Set(["False"]));
    expect(await listening).toBe("nobody came\n");
  });
});

describe("the manager's account is refused", () => {
  const eviction = JSON.stringify({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "x" } });
  const refused: Readonly<Record<string, () => readonly [args: readonly string[], input?: string]>> = {
    "secrets of the scripts' namespace": () => [["--namespace", it.scripts, "get", "secrets"]],
    "secrets of its own namespace": () => [["--namespace", it.namespace, "get", "secrets"]],
    "pods of its own namespace": () => [["--namespace", it.namespace, "get", "pods"]],
    "pods of all namespaces": () => [["get", "pods", "--all-namespaces"]],
    nodes: () => [["get", "nodes"]],
    "commands in a pod": () => [
      ["create", "--raw", `/api/v1/namespaces/${it.scripts}/pods/x/exec?command=id&stdout=true`, "--filename", "-"],
      "{}",
    ],
    "a way to a pod's ports": () => [
      ["create", "--raw", `/api/v1/namespaces/${it.scripts}/pods/x/portforward`, "--filename", "-"],
      "{}",
    ],
    deployments: () => [["--namespace", it.scripts, "create", "deployment", "x", "--image=python:3.12-slim"]],
    jobs: () => [["--namespace", it.scripts, "create", "job", "x", "--image=python:3.12-slim"]],
    "network policies": () => [["--namespace", it.scripts, "delete", "networkpolicy", "deny-all"]],
    "a token of another account": () => [["--namespace", it.scripts, "create", "token", "rockbot-script"]],
    evicting: () => [
      ["create", "--raw", `/api/v1/namespaces/${it.scripts}/pods/x/eviction`, "--filename", "-"],
      eviction,
    ],
    "ephemeral containers": () => [
      ["--namespace", it.scripts, "patch", "pod", "x", "--subresource=ephemeralcontainers", "--patch", "{}"],
    ],
    "a namespace": () => [["create", "namespace", "x"]],
    "all pods in one go": () => [["delete", "--raw", `/api/v1/namespaces/${it.scripts}/pods`]],
    "its admission policy": () => [["delete", "validatingadmissionpolicy", `${it.release.name}-script-pods-create`]],
  };

  test.each(Object.entries(refused))("%s", async (_, request) => {
    const [args, input] = request();
    await expect(cluster.kubectlAs(token, args, input === undefined ? {} : { input })).rejects.toThrow(
      /forbidden|cannot/i,
    );
  });
});

describe("a manager that is killed", () => {
  test("loses no call that it had begun, leaves no pod behind, and is back", async () => {
    const running = it.run('import time; print("begun", flush=True); time.sleep(15); print("through")', 180_000);
    await expect
      .poll(() => pods("--selector", "rockbot.dev/state=busy", "--field-selector", "status.phase=Running"))
      .not.toEqual([]);
    const before = await pods();
    await ask("delete", "pod", "--selector", "app.kubernetes.io/name=scripts-manager", "--grace-period=0", "--force");

    expect(await running).toBe("begun\nthrough\n");
    await expect
      .poll(async () => (await pods()).filter((pod) => before.includes(pod)), { timeout: 90_000 })
      .toEqual([]);
    await ask("rollout", "status", `deployment/${it.manager}`, "--timeout=50s");
    expect(await it.run("print(6 * 7)")).toBe("42\n");
  });

  test("leaves no pod where it is scaled to nothing", async () => {
    await ask("scale", `deployment/${it.manager}`, "--replicas=0");
    await expect.poll(() => pods(), { timeout: 90_000 }).toEqual([]);
    await ask("scale", `deployment/${it.manager}`, "--replicas=1");
    await ask("rollout", "status", `deployment/${it.manager}`, "--timeout=50s");
  });
});
