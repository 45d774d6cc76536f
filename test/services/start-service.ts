import { dirname, join } from "node:path";
import { type NodeProgram, type StartNodeProgramOptions, startNodeProgram } from "@rockbot/testing";

const root = dirname(dirname(import.meta.dirname));
/** Half a second, but on a machine that does much else. */
const READY_MS = 60_000;
/** Services that a bundle has not in full: there is no ripgrep in it. */
const FROM_SOURCES: ReadonlySet<string> = new Set(["workspace-tools"]);

export type RunningProcess = NodeProgram;

/** A program of this repository, named by its path in it. */
export const startProgram = (main: string, options?: StartNodeProgramOptions): RunningProcess =>
  startNodeProgram(join(root, main), options);

/** A service of the list as a process of its own, once it says that it is ready. */
export async function startService(
  service: string,
  env: Readonly<Record<string, string>>,
  { nodeArgs }: Pick<StartNodeProgramOptions, "nodeArgs"> = {},
): Promise<RunningProcess> {
  return untilReady(
    service,
    startProgram("services/main.ts", {
      args: [service],
      env,
      isFromSources: FROM_SOURCES.has(service),
      ...(nodeArgs && { nodeArgs }),
    }),
    '"msg":"ready"',
  );
}

/** The tool service of echo-service.ts; each line of its stdout after the first is one run of the tool. */
export async function startEchoService(busUrl: string): Promise<RunningProcess> {
  return untilReady(
    "echo",
    startProgram("test/services/echo-service.ts", { args: [busUrl], nodeArgs: ["--expose-gc"] }),
    "ready\n",
  );
}

/** @throws {Error} with what it has said, if it ends or takes too long */
export async function untilReady(name: string, running: RunningProcess, says: string): Promise<RunningProcess> {
  const deadline = performance.now() + READY_MS;
  while (!(running.stdout() + running.stderr()).includes(says)) {
    const over = await Promise.race([
      running.ended.then(() => true),
      new Promise<boolean>((resolve) => setTimeout(resolve, 20, false)),
    ]);
    if (!over && performance.now() < deadline) continue;
    await running[Symbol.asyncDispose]();
    throw new Error(`${name} did not become ready:\n${running.stdout()}${running.stderr()}`);
  }
  return running;
}
