import { randomUUID } from "node:crypto";
import { silentLogger } from "@rockbot/bus";
import { containerMaker, defaultSandboxLimits, engineSocket, localWays, openLocalMaker, type SandboxMaker, supervisorCommand } from "@rockbot/scripts-manager";
import { canRunContainers, hasBubblewrap, missingNamespaces } from "@rockbot/testing";
import { noOwnCluster, openScriptsCluster } from "./scripts-cluster.ts";

interface OpenMaker extends AsyncDisposable {
  readonly maker: SandboxMaker;
}

const IMAGE = process.env["ROCKBOT_TEST_PYTHON_IMAGE"] ?? "python:3.12-slim";
const limits = defaultSandboxLimits;

/** The makers of sandboxes that this machine can have, or why it cannot have one. */
export const openMakers: readonly { readonly kind: string; open(): Promise<OpenMaker | string> }[] = [
  { kind: "local", open: async () => missingNamespaces() ?? ((await hasBubblewrap()) ? await openLocal("bubblewrap") : "bubblewrap is not installed") },
  { kind: "local by unshare", open: async () => missingNamespaces() ?? (await openLocal("unshare")) },
  { kind: "container", open: async () => ((await canRunContainers(IMAGE)) ? openContainers() : "no Docker engine answers") },
  { kind: "pod of the test API server", open: async () => noOwnCluster.why ?? (await openPods()) },
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
  const cluster = opening.use(await openScriptsCluster());
  const maker = opening.use(cluster.maker({ limits }));
  const opened = opening.move();
  return { maker, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function owned(maker: SandboxMaker): OpenMaker {
  return { maker, [Symbol.asyncDispose]: () => maker[Symbol.asyncDispose]() };
}
