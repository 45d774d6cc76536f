import { randomUUID } from "node:crypto";
import { startLoop, within } from "@rockbot/base";
import { type Logger, silentLogger } from "@rockbot/bus";
import { ToolError } from "@rockbot/contracts";
import type { SandboxMaker } from "../sandbox.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";
import { type ContainerSandbox, startContainerSandbox } from "./container-sandbox.ts";
import { connectEngine } from "./engine-api.ts";
import { label, ROLE, reapContainers } from "./reap-containers.ts";
import { removeContainer } from "./remove-container.ts";

/** The engine and the image of sandboxes in containers. */
export interface ContainerMakerOptions {
  /** The engine's unix socket: who may use it is root on its machine. */
  readonly socketPath: string;
  /** An image with python3 in it. By digest where it matters which. The engine has it: it is not pulled here. */
  readonly image: string;
  /**
   * A sandbox's first process, as it is called in the image: `supervisorCommand`, or another that says `ready` first
   * and ends with its stdin.
   */
  readonly command: readonly string[];
  readonly limits: SandboxLimits;
  /**
   * The name of this scripts manager, which no other one on the engine has: what an earlier process of it has left
   * there is removed at once. @default a new one: what is left ends by itself, and is removed at its deadline if it
   * does not
   */
  readonly owner?: string | undefined;
  /** The packages' folder as the engine knows it: a path on its machine, or the name of one of its volumes. */
  readonly packagesSource?: string | undefined;
  /**
   * How long a container may be there at the most, idle or not, in milliseconds: after that any scripts manager on the
   * engine removes it.
   * @default 6 h
   */
  readonly lifetimeMs?: number | undefined;
  /** The timeout of each call to the engine, and of a container's start, in milliseconds. @default 15_000 */
  readonly timeoutMs?: number | undefined;
  readonly log?: Logger | undefined;
}

const REAP_EVERY_MS = 20_000;
const LAST_REMOVALS_MS = 10_000;
const SIX_HOURS_MS = 6 * 3600 * 1000;

/** Makes sandboxes that are containers of a Docker engine. They end by themselves when this process does. */
export function containerMaker(options: ContainerMakerOptions): SandboxMaker {
  const process = randomUUID();
  const { socketPath, owner = process, timeoutMs = 15_000, lifetimeMs = SIX_HOURS_MS, log = silentLogger } = options;
  const api = connectEngine({ socketPath, timeoutMs });
  const sandboxes = new Map<string, ContainerSandbox>();
  const removals = new Set<Promise<void>>();
  const stop = new AbortController();

  const reaper = startLoop(REAP_EVERY_MS, async (signal) => {
    const live = new Set(sandboxes.keys());
    await reapContainers(api, { owner, process, live }, { signal, log }).catch((error: unknown) => {
      if (!signal.aborted) log.warn({ error: String(error) }, "could not look for orphaned containers");
    });
  });

  async function remove(name: string): Promise<void> {
    const removal = removeContainer(api, name, log);
    removals.add(removal);
    await removal;
    removals.delete(removal);
    sandboxes.delete(name);
  }

  function keep(sandbox: ContainerSandbox): void {
    sandboxes.set(sandbox.name, sandbox);
    void sandbox.gone.then(() => sandbox[Symbol.asyncDispose]());
  }

  return {
    kind: "container",
    carriesFiles: true,
    lasts: true,
    async make({ signal }) {
      if (stop.signal.aborted)
        throw new ToolError("unavailable", "Cannot run the script: the scripts manager is shutting down");
      const deadline = String(Math.ceil((Date.now() + lifetimeMs) / 1000));
      const labels = { [label.Role]: ROLE, [label.Owner]: owner, [label.Process]: process, [label.Deadline]: deadline };
      const sandbox = await startContainerSandbox(api, {
        spec: { ...options, labels },
        startTimeoutMs: timeoutMs,
        signal: AbortSignal.any([signal, stop.signal]),
        remove,
        log,
      });
      keep(sandbox);
      return sandbox;
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new ToolError("unavailable", "Cannot run the script: the scripts manager is shutting down"));
      await reaper[Symbol.asyncDispose]();
      await Promise.all([...sandboxes.values()].map((sandbox) => sandbox[Symbol.asyncDispose]()));
      await within(LAST_REMOVALS_MS, Promise.all(removals), () => new Error("late")).catch(() => {}); // the reaper of the next process has them
      await api[Symbol.asyncDispose]();
    },
  };
}
