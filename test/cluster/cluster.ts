import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createConnection } from "node:net";
import { setTimeout } from "node:timers/promises";
import {
  type ClusterConnection,
  freePort,
  type KubeObject,
  kubeconfigOf,
  kubernetesTool,
  run,
  temporaryFolder,
} from "@rockbot/testing";

const KUBECTL_MS = 60_000;
const FORWARDED_MS = 60_000;

export interface KubectlOptions {
  /** @default 60_000 */
  readonly timeoutMs?: number;
  readonly input?: string;
}

/** A namespace of a test's own. Disposal has the cluster remove it with all that is in it. */
export interface OwnNamespace extends AsyncDisposable {
  readonly name: string;
}

/** A port of this machine that leads to one of a Service or a pod, also after its pod was replaced. */
export interface ForwardedPort extends AsyncDisposable {
  readonly port: number;
}

/**
 * The cluster that ROCKBOT_TEST_KUBECONFIG names, by its kubectl. Tests share it with others: each works in namespaces
 * of its own.
 */
export class Cluster {
  readonly kubeconfig: string;
  readonly #kubectl: string;

  private constructor(kubeconfig: string, kubectl: string) {
    this.kubeconfig = kubeconfig;
    this.#kubectl = kubectl;
  }

  /** @throws {Error} that says what is missing */
  static async open(): Promise<Cluster> {
    const kubeconfig = process.env["ROCKBOT_TEST_KUBECONFIG"] ?? "";
    if (kubeconfig === "")
      throw new Error("ROCKBOT_TEST_KUBECONFIG names no kubeconfig: run these tests by npm run test:cluster");
    return new Cluster(kubeconfig, await neededTool("kubectl"));
  }

  /** @returns what it prints @throws {Error} with what it says */
  async kubectl(args: readonly string[], { timeoutMs = KUBECTL_MS, input }: KubectlOptions = {}): Promise<string> {
    return await run(this.#kubectl, args, { timeoutMs, input, env: this.#env() });
  }

  /** What kubectl prints as JSON. */
  async json<T>(args: readonly string[], options?: KubectlOptions): Promise<T> {
    return JSON.parse(await this.kubectl([...args, "--output", "json"], options)) as T;
  }

  /** Runs kubectl as the holder of a bearer token, and nobody else. */
  async kubectlAs(
    token: string,
    args: readonly string[],
    { timeoutMs = KUBECTL_MS, input }: KubectlOptions = {},
  ): Promise<string> {
    using folder = temporaryFolder();
    const kubeconfig = folder.write("kubeconfig", kubeconfigOf(await this.connectionAs(token)));
    return await run(this.#kubectl, args, { timeoutMs, input, env: this.#env(kubeconfig) });
  }

  /** A token of an account, for an hour. */
  async tokenOf(namespace: string, account: string): Promise<string> {
    return (await this.kubectl(["--namespace", namespace, "create", "token", account])).trim();
  }

  /** What a Secret holds, as text. */
  async secret(namespace: string, name: string): Promise<Readonly<Record<string, string>>> {
    const { data } = await this.json<{ readonly data: Readonly<Record<string, string>> }>([
      "--namespace",
      namespace,
      "get",
      "secret",
      name,
    ]);
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
    );
  }

  async apply(...objects: readonly KubeObject[]): Promise<void> {
    await this.kubectl(["apply", "--filename", "-"], {
      input: JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
    });
  }

  /** A new one, whose name begins with the prefix. */
  async namespace(prefix: string, labels: Readonly<Record<string, string>> = {}): Promise<OwnNamespace> {
    const name = uniqueName(prefix);
    await this.apply({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels: { "rockbot.dev/test": "true", ...labels } },
    });
    await this.kubectl(["wait", "--for=create", "--timeout=30s", "--namespace", name, "serviceaccount/default"]); // pods need it, and a controller makes it
    return {
      name,
      [Symbol.asyncDispose]: async () =>
        void (await this.kubectl(["delete", "namespace", name, "--wait=false", "--ignore-not-found"])),
    };
  }

  /** The log of a container, as far as it has one. */
  async logs(namespace: string, target: string, args: readonly string[] = []): Promise<string> {
    return await this.kubectl(["--namespace", namespace, "logs", target, ...args]).catch(
      (error: Error) => `(no log: ${error.message})`,
    );
  }

  /** What a command in a pod prints. */
  async exec(namespace: string, pod: string, command: readonly string[], timeoutMs = KUBECTL_MS): Promise<string> {
    return await this.kubectl(["--namespace", namespace, "exec", pod, "--", ...command], { timeoutMs });
  }

  /** @param target such as `service/rockbot-gateway` */
  async forward(namespace: string, target: string, remotePort: number): Promise<ForwardedPort> {
    const port = await freePort();
    const stop = new AbortController();
    let child: ChildProcess | undefined;
    let said = "";
    const start = (): void => {
      if (stop.signal.aborted) return;
      const args = [
        "--namespace",
        namespace,
        "port-forward",
        "--address",
        "127.0.0.1",
        target,
        `${port}:${remotePort}`,
      ];
      child = spawn(this.#kubectl, args, { env: this.#env(), stdio: ["ignore", "ignore", "pipe"] });
      child.stderr?.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-500)));
      child.once("exit", () => void setTimeout(200, undefined, { signal: stop.signal }).then(start, () => {})); // its pod is gone, another may be there
    };
    start();
    const until = performance.now() + FORWARDED_MS;
    while (!(await isOpen(port))) {
      if (performance.now() > until) {
        stop.abort();
        child?.kill();
        throw new Error(`Cannot reach port ${remotePort} of ${target} in ${namespace}: ${said}`);
      }
      await setTimeout(100);
    }
    return {
      port,
      async [Symbol.asyncDispose]() {
        stop.abort();
        child?.kill();
      },
    };
  }

  #env(kubeconfig = this.kubeconfig): NodeJS.ProcessEnv {
    return { ...process.env, KUBECONFIG: kubeconfig };
  }

  /** How the holder of a bearer token reaches the API server. */
  async connectionAs(token: string): Promise<ClusterConnection> {
    const view = await this.json<KubeconfigView>(["config", "view", "--raw", "--minify", "--flatten"]);
    const [{ cluster }] = view.clusters;
    return {
      server: cluster.server,
      certificate: Buffer.from(cluster["certificate-authority-data"], "base64").toString(),
      token,
    };
  }
}

interface KubeconfigView {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } },
  ];
}

/** The path of kubectl or helm. @throws {Error} that says why there is none */
export async function neededTool(name: "kubectl" | "helm"): Promise<string> {
  const tool = await kubernetesTool(name);
  if ("why" in tool) throw new Error(tool.why);
  return tool.program;
}

/** A name for the objects of one test: objects of all namespaces need one, too. */
export const uniqueName = (prefix: string): string => `${prefix}-${randomBytes(3).toString("hex")}`;

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    const end = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}
