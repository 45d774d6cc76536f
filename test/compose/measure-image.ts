import { stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { docker } from "@rockbot/testing";
import { MEASUREMENT_ENV } from "../../scripts/measure/measure-service.ts";

export interface ImageFigures {
  readonly sizeMB: number;
  /** The size of the layer that only this image has. */
  readonly appMB: number;
  /** The time from `docker run` to the first 200 of /readyz. */
  readonly readyMs: number;
  /** As the engine counts it, one second later. */
  readonly idleMiB: number;
  /** From SIGTERM to the end. */
  readonly stopMs: number;
}

const READY_DEADLINE_MS = 180_000;
const POLL_MS = 20;
const IDLE_AFTER_MS = 1_000;
/** What each image must run with. */
export const HARDENED = [
  "--read-only",
  "--cap-drop",
  "ALL",
  "--user",
  "65534:65534",
  "--security-opt",
  "no-new-privileges",
];

/** The one folder that services may write to, where they keep data. */
const DATA = ["--tmpfs", "/data:uid=65534,gid=65534,mode=0700", "--env", "DATA_DIRECTORY=/data"];

const SOCKET = "/var/run/docker.sock";

/** Lets a container that runs as nobody use the engine: it is in the socket's group. */
export async function engineOptions(): Promise<readonly string[]> {
  const env = { RUNNER: "container", CONTAINER_OWNER: "measured", UNSAFE_LOCAL_SCRIPTS: "false" };
  return [
    ...["--volume", `${SOCKET}:${SOCKET}`, "--group-add", String((await stat(SOCKET)).gid)],
    ...Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
  ];
}

/**
 * Runs the image of a service as nobody, with a root that cannot be written to, without capabilities and over the
 * in-memory bus, until it is ready and idle, and stops it.
 * @param options of `docker run`, which it needs besides
 * @throws {Error} with its last words, if it is not ready within three minutes, or does not end by SIGTERM with exit
 * code 0
 */
export async function measureImage(image: string, options: readonly string[] = []): Promise<ImageFigures> {
  const startedAt = performance.now();
  const env = Object.entries({ ...MEASUREMENT_ENV, BUS_URL: "memory:" }).flatMap(([name, value]) => [
    "--env",
    `${name}=${value}`,
  ]);
  const started = [
    "run",
    "--detach",
    "--no-healthcheck",
    "--publish",
    "127.0.0.1::8481",
    ...HARDENED,
    ...DATA,
    ...env,
    ...options,
    image,
  ];
  const id = (await docker(started)).trim();
  try {
    await untilReady(id);
    const readyMs = performance.now() - startedAt;
    await setTimeout(IDLE_AFTER_MS);
    const idleMiB = toMiB(
      (await docker(["stats", "--no-stream", "--format", "{{.MemUsage}}", id])).split("/")[0]?.trim() ?? "",
    );
    const stoppedAt = performance.now();
    await docker(["stop", "--time", "20", id]);
    const stopMs = performance.now() - stoppedAt;
    const code = (await docker(["inspect", "--format", "{{.State.ExitCode}}", id])).trim();
    if (code !== "0")
      throw new Error(`Cannot measure ${image}: after SIGTERM it ends with exit code ${code}. ${await lastWords(id)}`);
    return { ...(await imageSizes(image)), readyMs, idleMiB, stopMs };
  } finally {
    await docker(["rm", "--force", "--volumes", id]);
  }
}

/** The size of an image, and of its layer with the app. */
export async function imageSizes(image: string): Promise<Pick<ImageFigures, "sizeMB" | "appMB">> {
  const layers = (await docker(["history", "--human=false", "--format", "{{.Size}}\t{{.CreatedBy}}", image]))
    .trim()
    .split("\n");
  const app = layers.find((line) => line.includes("COPY /image/"))?.split("\t")[0];
  const size = (await docker(["image", "inspect", "--format", "{{.Size}}", image])).trim();
  return { sizeMB: Number(size) / 1e6, appMB: Number(app) / 1e6 };
}

async function untilReady(id: string): Promise<void> {
  const deadline = performance.now() + READY_DEADLINE_MS;
  let polls = 0;
  const address = (await docker(["port", id, "8481"])).trim().split("\n")[0];
  while (performance.now() < deadline) {
    const response = await fetch(`http://${address}/readyz`).catch(() => undefined); // refused until the port is open
    await response?.body?.cancel();
    if (response?.status === 200) return;
    // Asking the engine takes processor time from what is measured.
    if (response === undefined && polls++ % 200 === 199 && !(await isRunning(id)))
      throw new Error(`Cannot measure the image: it has ended. ${await lastWords(id)}`);
    await setTimeout(POLL_MS);
  }
  throw new Error(
    `Cannot measure the image: it is not ready after ${READY_DEADLINE_MS / 1_000} s. ${await lastWords(id)}`,
  );
}

const isRunning = async (id: string): Promise<boolean> =>
  (await docker(["inspect", "--format", "{{.State.Running}}", id])).trim() === "true";

const lastWords = async (id: string): Promise<string> =>
  `The container says: ${(await docker(["logs", "--tail", "5", id])).trim()}`;

function toMiB(text: string): number {
  const [, value, unit = ""] = /^([\d.]+)\s*(\w+)$/.exec(text) ?? [];
  const factor = { B: 2 ** -20, KiB: 2 ** -10, MiB: 1, GiB: 2 ** 10 }[unit];
  if (factor === undefined) throw new Error(`Cannot read the memory that the engine says: ${text}`);
  return Number(value) * factor;
}
