import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import type { Logger } from "@rockbot/bus";
import { ToolError } from "@rockbot/contracts";
import type { Sandbox, SandboxEnd } from "../sandbox.ts";
import { untilReady } from "../supervisor/until-ready.ts";
import { type ContainerSpec, containerSpec } from "./container-spec.ts";
import { createDemultiplexer, type Demultiplexer } from "./demultiplex.ts";
import type { EngineApi } from "./engine-api.ts";
import { engineToolError } from "./engine-error.ts";
import { isOutOfMemory } from "./is-out-of-memory.ts";

export interface ContainerSandboxOptions {
  readonly spec: ContainerSpec;
  /** From its start until its first process is ready, in milliseconds. */
  readonly startTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Ends and removes a container, whenever it has been made. Never rejects. */
  readonly remove: (name: string) => Promise<void>;
  readonly log: Logger;
}

/** A sandbox that is a container. */
export interface ContainerSandbox extends Sandbox {
  /** The name of the container. */
  readonly name: string;
}

/** @throws {ToolError} if there is none now */
export async function startContainerSandbox(
  api: EngineApi,
  options: ContainerSandboxOptions,
): Promise<ContainerSandbox> {
  const { spec, startTimeoutMs, signal, remove, log } = options;
  // A name of our own: a container can be removed even if nobody heard that it was made.
  const name = `rockbot-script-${randomUUID()}`;
  const since = Math.floor(Date.now() / 1000);
  let output: Demultiplexer | undefined;
  try {
    await api.call({ method: "POST", path: "/containers/create", query: { name }, body: containerSpec(spec), signal });
    const streams = await api.attach(name, { signal });
    output = demultiplexed(streams);
    await api.call({ method: "POST", path: `/containers/${name}/start`, signal });
    await untilReady(output, { signal, timeoutMs: startTimeoutMs });
    return sandboxOf(api, { name, since, streams, output, remove, log });
  } catch (error) {
    void remove(name);
    if (signal.aborted) throw signal.reason;
    log.warn({ error: String(error), stderr: output?.stderr }, "could not make a container");
    throw engineToolError(error, spec.image);
  }
}

function demultiplexed(streams: Duplex): Demultiplexer {
  const output = createDemultiplexer();
  streams.pipe(output);
  streams.once("close", () => output.end());
  streams.on("error", () => output.end()); // the engine says how it ended
  return output;
}

interface StartedContainer {
  readonly name: string;
  readonly since: number;
  readonly streams: Duplex;
  readonly output: Demultiplexer;
  readonly remove: (name: string) => Promise<void>;
  readonly log: Logger;
}

function sandboxOf(api: EngineApi, { name, since, streams, output, remove, log }: StartedContainer): ContainerSandbox {
  const disposed = new AbortController();
  let removed: Promise<void> | undefined;
  const ended = new Promise<void>((resolve) => streams.once("close", () => resolve()));

  async function explain(): Promise<SandboxEnd> {
    await ended;
    try {
      const isMemory = await isOutOfMemory(api, name, since, disposed.signal);
      if (output.stderr !== "") log.warn({ name, stderr: output.stderr }, "a container ended with output of its own");
      return endOf(isMemory);
    } catch (error) {
      if (!disposed.signal.aborted)
        log.warn({ error: String(error), name }, "could not find out why a container ended");
      return endOf(false);
    }
  }

  return {
    name,
    input: streams,
    output,
    gone: explain(),
    async [Symbol.asyncDispose]() {
      disposed.abort();
      removed ??= remove(name);
      // The streams end with its last process; the engine may need longer for the rest.
      await Promise.race([ended, removed]);
      streams.destroy();
    },
  };
}

function endOf(isOutOfMemory: boolean): SandboxEnd {
  return {
    isOutOfMemory,
    error: isOutOfMemory
      ? new ToolError(
          "execution_failed",
          "Cannot finish the script: the memory of its sandbox was used up. Have it keep less at a time",
          {
            details: { reason: "out_of_memory" },
          },
        )
      : new ToolError("execution_failed", "Cannot finish the script: its sandbox has ended under it. Run it again", {
          details: { reason: "sandbox_lost" },
        }),
  };
}
