import { randomUUID } from "node:crypto";
import { silentLogger } from "@rockbot/bus";
import {
  engineSocket,
  localWays,
  openLocalMaker,
  type SandboxLimits,
  type SandboxMaker,
  supervisorCommand,
} from "@rockbot/sandbox";
import { containerMaker } from "@rockbot/sandbox/container";
import { canRunContainers, hasBubblewrap, missingNamespaces } from "@rockbot/testing";
import { noOwnCluster, openScriptsCluster } from "./scripts-cluster.ts";

interface OpenMaker extends AsyncDisposable {
  readonly maker: SandboxMaker;
}

/** A kind of sandboxes that this machine may have. */
export interface MakerKind {
  readonly kind: string;
  /** Why this machine has none. */
  readonly missing: string | undefined;
  open(limits: SandboxLimits): Promise<OpenMaker>;
}

const IMAGE = process.env["ROCKBOT_TEST_PYTHON_IMAGE"] ?? "python:3.12-slim";

const noNamespaces = missingNamespaces();
const noBubblewrap =
  noNamespaces ?? ((await hasBubblewrap()) ? undefined : "bubblewrap is not installed, and cannot be");
const noContainers = (await canRunContainers(IMAGE)) ? undefined : `no Docker engine has ${IMAGE}`;

export const localMakers: readonly MakerKind[] = [
  { kind: "local", missing: noBubblewrap, open: (limits) => openLocal("bubblewrap", limits) },
  { kind: "local by unshare", missing: noNamespaces, open: (limits) => openLocal("unshare", limits) },
];
export const containers: MakerKind = {
  kind: "container",
  missing: noContainers,
  open: async (limits) => openContainers(limits),
};
export const pods: MakerKind = { kind: "pod of the test API server", missing: noOwnCluster.why, open: openPods };

async function openLocal(way: keyof typeof localWays, limits: SandboxLimits): Promise<OpenMaker> {
  return owned(await openLocalMaker({ log: silentLogger, limits, ways: [localWays[way]], path: process.env["PATH"] }));
}

function openContainers(limits: SandboxLimits): OpenMaker {
  const command = supervisorCommand("python3", limits);
  const socketPath = engineSocket(process.env["DOCKER_HOST"]);
  return owned(containerMaker({ socketPath, image: IMAGE, command, limits, owner: `test-${randomUUID()}` }));
}

async function openPods(limits: SandboxLimits): Promise<OpenMaker> {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await openScriptsCluster());
  const maker = opening.use(cluster.maker({ limits }));
  const opened = opening.move();
  return { maker, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function owned(maker: SandboxMaker): OpenMaker {
  return { maker, [Symbol.asyncDispose]: () => maker[Symbol.asyncDispose]() };
}
