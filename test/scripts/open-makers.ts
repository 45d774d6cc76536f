import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { silentLogger } from "@rockbot/bus";
import { containerMaker, defaultSandboxLimits, engineSocket, localWays, openLocalMaker, type SandboxMaker, supervisorCommand } from "@rockbot/scripts-manager";
import { kubernetesMaker } from "@rockbot/scripts-manager/kubernetes";
import {
  canRunContainers,
  hasBubblewrap,
  MANAGER_ACCOUNT,
  missingNamespaces,
  RELEASE_NAMESPACE,
  scriptsManifests,
  startKubernetesApi,
  temporaryFolder,
  whyNoPods,
  writeKubeconfig,
} from "@rockbot/testing";

interface OpenMaker extends AsyncDisposable {
  readonly maker: SandboxMaker;
}

const IMAGE = process.env["ROCKBOT_TEST_PYTHON_IMAGE"] ?? "python:3.12-slim";
const limits = defaultSandboxLimits;
const NAMESPACE = "rockbot-scripts";
/** As the chart has the manager name them. */
const chartNames = { serviceAccountName: "rockbot-script", priorityClassName: "rockbot-script" };

/** The makers of sandboxes that this machine can have, or why it cannot have one. */
export const openMakers: readonly { readonly kind: string; open(): Promise<OpenMaker | string> }[] = [
  { kind: "local", open: async () => missingNamespaces() ?? ((await hasBubblewrap()) ? await openLocal("bubblewrap") : "bubblewrap is not installed") },
  { kind: "local by unshare", open: async () => missingNamespaces() ?? (await openLocal("unshare")) },
  { kind: "container", open: async () => ((await canRunContainers(IMAGE)) ? openContainers() : "no Docker engine answers") },
  { kind: "pod of the test API server", open: async () => whyNoPods() ?? (await openPods()) },
];

async function openLocal(way: keyof typeof localWays): Promise<OpenMaker> {
  return owned(await openLocalMaker({ log: silentLogger, limits, ways: [localWays[way]], path: process.env["PATH"] }));
}

function openContainers(): OpenMaker {
  const command = supervisorCommand("python3", limits);
  const socketPath = engineSocket(process.env["DOCKER_HOST"]);
  return owned(containerMaker({ socketPath, image: IMAGE, command, limits, owner: `bench-${randomUUID()}` }));
}

async function openPods(): Promise<OpenMaker> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(temporaryFolder());
  const api = opening.use(await startKubernetesApi({ manifests: scriptsManifests(NAMESPACE) }));
  const kubeconfigFile = join(folder.path, "kubeconfig");
  writeKubeconfig(kubeconfigFile, api.connectionFor({ namespace: RELEASE_NAMESPACE, name: MANAGER_ACCOUNT }));
  const maker = opening.use(kubernetesMaker({ kubeconfigFile, namespace: NAMESPACE, ...chartNames, limits }));
  const opened = opening.move();
  return { maker, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function owned(maker: SandboxMaker): OpenMaker {
  return { maker, [Symbol.asyncDispose]: () => maker[Symbol.asyncDispose]() };
}
