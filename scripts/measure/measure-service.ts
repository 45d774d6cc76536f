import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout } from "node:timers/promises";

export interface ServiceRun {
  /** From the start of the process to the first 200 of /readyz. */
  readonly readyMs: number;
  /** Resident memory one second later, in MiB. */
  readonly idleMiB: number;
  /** From SIGTERM to the end of the process. */
  readonly stopMs: number;
}

/** The resolution of the measurement; asking more often would take CPU from what is measured. */
const POLL_MS = 5;
const READY_DEADLINE_MS = 20_000;
const STOP_DEADLINE_MS = 10_000;
/**
 * What some services do not start without: scripts, which nobody sends here, have no sandbox on every machine, nobody
 * asks the model, and nobody opens the folder.
 */
export const MEASUREMENT_ENV = {
  MCP_TOKEN: "token-of-a-measurement",
  OPENROUTER_API_KEY: "key-of-a-measurement",
  UNSAFE_LOCAL_SCRIPTS: "true",
  MODEL_URL: "http://127.0.0.1:1/v1",
  MODEL: "model-of-a-measurement",
  WORKSPACE_ROOTS: JSON.stringify({ temporary: { folder: "/tmp" } }),
};
const IDLE_AFTER_MS = 1_000;

/**
 * Starts a bundled service over the in-memory bus, waits until it is ready and idle, and stops it.
 *
 * @throws {Error} if it is not ready within 20 seconds, or does not end by SIGTERM with exit code 0 within 10
 */
export async function measureService(file: string): Promise<ServiceRun> {
  const healthPort = await freePort();
  const env = {
    PATH: process.env.PATH,
    ...MEASUREMENT_ENV,
    BUS_URL: "memory:",
    HEALTH_PORT: String(healthPort),
    PORT: "0",
    NODE_ENV: "production",
  };
  const startedAt = performance.now();
  const child = spawn(process.execPath, [file], { env, stdio: ["ignore", "ignore", "inherit"] });
  try {
    await untilReady(`http://127.0.0.1:${healthPort}/readyz`, child, file);
    const readyMs = performance.now() - startedAt;
    await setTimeout(IDLE_AFTER_MS);
    const idleMiB = await residentMiB(child.pid ?? 0);
    const stopMs = await stop(child, file);
    return { readyMs, idleMiB, stopMs };
  } finally {
    child.kill("SIGKILL");
  }
}

async function untilReady(url: string, child: ChildProcess, file: string): Promise<void> {
  const deadline = performance.now() + READY_DEADLINE_MS;
  while (performance.now() < deadline && child.exitCode === null) {
    const response = await fetch(url).catch(() => undefined); // refused until the port is open
    await response?.body?.cancel();
    if (response?.status === 200) return;
    await setTimeout(POLL_MS);
  }
  throw new Error(
    `Cannot measure ${file}: ${child.exitCode === null ? "it is not ready after 20 s" : `it ends with exit code ${child.exitCode}`}`,
  );
}

async function stop(child: ChildProcess, file: string): Promise<number> {
  const startedAt = performance.now();
  child.kill("SIGTERM");
  const [code] = (await once(child, "exit", { signal: AbortSignal.timeout(STOP_DEADLINE_MS) })) as [number | null];
  if (code !== 0) throw new Error(`Cannot measure ${file}: after SIGTERM it ends with exit code ${code}`);
  return performance.now() - startedAt;
}

async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

/** Free now; taken by nobody else soon, since the system hands out such ports in turn. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
