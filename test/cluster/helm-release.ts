import { join } from "node:path";
import { CHART, run, temporaryFolder } from "@rockbot/testing";
import { type Cluster, neededTool, uniqueName } from "./cluster.ts";

const UNINSTALL_MS = 120_000;
/** The timeout of `helm --wait`. */
const WAIT_S = 300;

export interface InstallReleaseOptions {
  readonly namespace: string;
  /** The chart's folder. @default that of the repository */
  readonly chart?: string;
  /** Files of the chart, such as values-dev.yaml, under `values`. */
  readonly valuesFiles?: readonly string[];
  readonly values?: Readonly<Record<string, unknown>>;
}

/** Disposal uninstalls it, and waits for that. */
export interface HelmRelease extends AsyncDisposable {
  /** Unique, as the chart makes objects of all namespaces that are named after it. */
  readonly name: string;
  /** Installs it again, with other values. @throws {Error} with what helm and the pods say */
  upgrade(options: Omit<InstallReleaseOptions, "namespace">): Promise<string>;
  /** helm by its subcommand and what follows, in the release's namespace. */
  helm(args: readonly string[], timeoutMs?: number): Promise<string>;
}

/**
 * The images of services: `ROCKBOT_TEST_IMAGES` is how they begin (default `rockbot/`), `ROCKBOT_TEST_IMAGE_TAG` how
 * they end (default `dev`). The cluster has to have them or get them; they are never asked for twice.
 */
export const testImages = {
  of: (
    service: string,
  ): { readonly repository: string; readonly tag: string; readonly pullPolicy: "IfNotPresent" } => ({
    repository: `${process.env["ROCKBOT_TEST_IMAGES"] ?? "rockbot/"}${service}`,
    tag: process.env["ROCKBOT_TEST_IMAGE_TAG"] ?? "dev",
    pullPolicy: "IfNotPresent",
  }),
};

/** Installs the chart and waits until it is ready. @throws {Error} with what helm says, and how its pods are */
export async function installRelease(
  cluster: Cluster,
  { namespace, ...options }: InstallReleaseOptions,
): Promise<HelmRelease> {
  const name = uniqueName("rb");
  const program = await neededTool("helm");
  const helm = (args: readonly string[], timeoutMs = UNINSTALL_MS): Promise<string> =>
    run(program, ["--kubeconfig", cluster.kubeconfig, "--namespace", namespace, ...args], { timeoutMs });
  const uninstall = async (): Promise<void> =>
    void (await helm(
      ["uninstall", name, "--wait", "--ignore-not-found", "--timeout", `${UNINSTALL_MS / 1_000}s`],
      UNINSTALL_MS + 10_000,
    ));
  const upgrade: HelmRelease["upgrade"] = async ({ values = {}, valuesFiles = [], chart = CHART }) => {
    using folder = temporaryFolder();
    const files = [...valuesFiles.map((file) => join(chart, file)), folder.write("values.json", values)].flatMap(
      (file) => ["--values", file],
    );
    return await helm(
      ["upgrade", "--install", name, chart, ...files, "--wait", "--timeout", `${WAIT_S}s`],
      (WAIT_S + 60) * 1_000,
    ).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await statesOf(cluster, namespace)}`);
    });
  };
  try {
    await upgrade(options);
  } catch (error) {
    await uninstall().catch(() => {}); // the first error says more
    throw error;
  }
  return { name, upgrade, helm, [Symbol.asyncDispose]: uninstall };
}

/** Its pods and their latest events and words, for the message of a test that fails. */
async function statesOf(cluster: Cluster, namespace: string): Promise<string> {
  const ask = (args: readonly string[]): Promise<string> =>
    cluster.kubectl(["--namespace", namespace, ...args]).catch((error: Error) => error.message);
  const pods = await ask(["get", "pods", "--output", "wide"]);
  const events = (await ask(["get", "events", "--sort-by=.lastTimestamp"])).split("\n").slice(-15).join("\n");
  const logs = await ask(["logs", "--selector", "app.kubernetes.io/part-of=rockbot", "--tail", "5", "--prefix"]);
  return `${pods}\n${events}\n${logs}`;
}
