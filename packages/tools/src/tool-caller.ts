import { metrics } from "@opentelemetry/api";
import { type Bus, createRequester, type Logger, silentLogger } from "@rockbot/bus";
import {
  allToolNames,
  checkName,
  nearestName,
  newId,
  ToolError,
  ToolErrorCode,
  type ToolGuide,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
} from "@rockbot/contracts";
import { guideTools } from "./guide-tools.ts";
import { withCallingLayers, withServingLayers } from "./layers.ts";
import { DEFAULT_TIMEOUT_MS, MAX_CALLS_IN_FLIGHT, MAX_TIMEOUT_MS } from "./limits.ts";
import { progressListener } from "./progress-listener.ts";
import { ignoreProgress, remoteExecutor } from "./remote-executor.ts";
import { toToolError } from "./to-tool-error.ts";
import { ToolDirectory } from "./tool-directory.ts";
import type { ProgressUpdate } from "./tool-executor.ts";
import { createToolRegistry, type ToolRegistry } from "./tool-registry.ts";

export interface ToolCallerOptions {
  /** The agent that calls: the name in its result topic and, where nobody verifies senders, its identity. `^[a-z0-9][a-z0-9-]{0,38}$`. */
  readonly agent: string;
  /** Tells processes of one agent apart. Same grammar. @default none for "result", random for "copy" */
  readonly instance?: string | undefined;
  /** Whether answers wait for this agent while it is away (a service), or end with it (a one-shot command). @default "result" */
  readonly results?: "result" | "copy" | undefined;
  readonly log?: Logger | undefined;
}

export interface CallOptions {
  /** Identifies the call: the same id is the same call. @default 32 random hex digits */
  readonly toolCallId?: string | undefined;
  /** From 1 ms to 20 minutes. @default 60_000 */
  readonly timeoutMs?: number | undefined;
  /** Aborting cancels the call, wherever it is. */
  readonly signal?: AbortSignal | undefined;
  /** The working-memory namespace the call belongs to. */
  readonly sessionId?: string | undefined;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
}

/** The calling side: finds the tools that are served on a bus, and calls them. */
export interface ToolCaller extends AsyncDisposable {
  /** The tools that can be called now: those announced on the bus, and the two guide tools. */
  readonly tools: ToolRegistry;
  /** All announced guides, sorted by name, once discovery is over. */
  getGuides(): Promise<readonly ToolGuide[]>;
  /** Resolves once every service that was up has had time to announce itself: at most 250 ms after the start. */
  discovered(): Promise<void>;
  /**
   * Calls a tool. Settles once, by the deadline + 500 ms.
   * @param args the arguments: an object, or a JSON object as text
   * @throws {ToolError} if the call failed. A tool that reports a failure of its own gives a response with `isError`.
   */
  call(name: string, args: object | string | undefined, options?: CallOptions): Promise<ToolInvokeResponse>;
}

/**
 * Resolves once the caller listens for announcements; answers are subscribed to with the first call. Disposal cancels the calls that are out.
 */
export async function createToolCaller(
  bus: Bus,
  { agent, results = "result", instance = results === "copy" ? newId().slice(0, 12) : undefined, log = silentLogger }: ToolCallerOptions,
): Promise<ToolCaller> {
  checkName("an agent's name", agent);
  if (instance !== undefined) checkName("an instance's name", instance);
  const address = instance === undefined ? agent : `${agent}.${instance}`;
  const replyTo = `tool.result.${address}`;

  const meter = metrics.getMeter("@rockbot/tools");
  const strays = meter.createCounter("rockbot.tool.results.stray", { description: "Answers that no call waits for: late, repeated or forged." });
  const inFlight = meter.createUpDownCounter("rockbot.tool.calls.in_flight", { description: "Calls without an answer yet." });

  await using stack = new AsyncDisposableStack();
  const requester = stack.use(createRequester(bus, { replyTo, subscription: { name: `result.${address}`, kind: results }, onStray: () => strays.add(1) }));
  const registry = createToolRegistry();
  const directory: ToolDirectory = new ToolDirectory(bus, {
    source: agent,
    log,
    onFound(tool) {
      if (registry.getExecutor(tool.name) !== undefined) {
        log.warn({ tool: tool.name, newcomer: tool.service }, "a tool's name is taken by one of this process: the newcomer is not listed");
        return;
      }
      const { name, description, parametersSchema, outputSchema, readOnly = false, idempotent = false, service } = tool;
      const registration = { name, description, parametersSchema, ...(outputSchema == null ? {} : { outputSchema }), readOnly, idempotent, source: service };
      registry.register(registration, remoteExecutor(tool, { bus, requester, directory, source: agent }));
      remote.add(tool.name);
    },
    onLost(name) {
      if (remote.delete(name)) registry.unregister(name);
    },
  });
  /** The tools that are listed because a service announced them; others are this process's own. */
  const remote = new Set<string>();
  async function getGuides(): Promise<readonly ToolGuide[]> {
    await directory.discovered();
    return directory.guides;
  }
  for (const tool of guideTools(getGuides)) {
    const { name, description, inputSchema, outputSchema, readOnly, idempotent } = tool.definition;
    registry.register(
      { name, description, parametersSchema: JSON.stringify(inputSchema), outputSchema: JSON.stringify(outputSchema), readOnly, idempotent, source: "local" },
      withServingLayers(tool),
    );
  }
  stack.use(directory);
  await directory.open();

  const listening = stack.use(progressListener(bus, replyTo, address));
  /** Finds the executor when the call is made, so that a tool that comes or goes meanwhile is judged as it is then. */
  const calling = withCallingLayers({
    async execute(request, context) {
      if (context.progress !== ignoreProgress) await listening.listen(request.toolCallId, context.progress);
      const name = request.toolName;
      if (registry.getExecutor(name) === undefined) await directory.lookFor(name);
      const executor = registry.getExecutor(name);
      if (executor === undefined) throw notServed(name);
      return executor.execute(request, context);
    },
  });

  function notServed(name: string): ToolError {
    const shown = name.slice(0, 80);
    if (directory.remembers(name) || allToolNames.includes(name)) {
      return new ToolError(ToolErrorCode.Unavailable, `"${shown}" cannot be called now: no running service offers it. Try again later.`);
    }
    const known = registry.getTools().map((tool) => tool.name);
    const nearest = nearestName(name, known);
    const help = nearest !== undefined ? `did you mean "${nearest}"?` : known.length > 0 ? `known: ${known.slice(0, 20).join(", ")}` : "none is known";
    return new ToolError(ToolErrorCode.ToolNotFound, `There is no tool "${shown}": ${help}`, { details: { ...(nearest === undefined ? {} : { nearest }) } });
  }

  /** The calls that are out, by id: aborting one cancels it. */
  const calls = new Map<string, AbortController>();
  let isClosed = false;
  const running = stack.move();
  return {
    tools: registry,
    getGuides,
    discovered: () => directory.discovered(),
    async call(name, args, { toolCallId = newId(), timeoutMs = DEFAULT_TIMEOUT_MS, signal = neverAborted, sessionId, onProgress } = {}) {
      if (!Number.isFinite(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS) {
        throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot call "${name}" with a timeout of ${timeoutMs} ms: expected 1 to ${MAX_TIMEOUT_MS}`);
      }
      if (toolCallId.length < 1 || toolCallId.length > 128) {
        throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot call "${name}": a toolCallId has 1 to 128 characters, this one has ${toolCallId.length}`);
      }
      if (calls.has(toolCallId)) {
        throw new ToolError(
          ToolErrorCode.InvalidArguments,
          `Cannot call "${name}" as "${toolCallId}": a call with this id is out already. Wait for its answer.`,
        );
      }
      if (isClosed) throw new ToolError(ToolErrorCode.Unavailable, `Cannot call "${name}": this caller is closed`, { isRetryable: false });
      if (calls.size >= MAX_CALLS_IN_FLIGHT) {
        throw new ToolError(
          ToolErrorCode.Overloaded,
          `Cannot call "${name}" now: "${agent}" has ${calls.size} calls without an answer, the most it may have. Wait for one to end.`,
          { retryAfterMs: 1_000 },
        );
      }
      const deadline = performance.now() + timeoutMs;
      const request: ToolInvokeRequest = {
        toolCallId,
        toolName: name,
        arguments: typeof args === "string" ? args : args === undefined ? null : JSON.stringify(args),
        sessionId: sessionId ?? null,
      };
      const cancelled = new AbortController();
      const onAbort = () =>
        cancelled.abort(
          new ToolError(ToolErrorCode.Cancelled, `The call of "${name}" was cancelled by its caller`, { cause: signal.reason, details: { mayHaveRun: true } }),
        );
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      calls.set(toolCallId, cancelled);
      inFlight.add(1);
      try {
        return await calling.execute(request, { signal: cancelled.signal, deadline, caller: agent, progress: onProgress ?? ignoreProgress, log });
      } catch (error) {
        throw toToolError(error, name);
      } finally {
        signal.removeEventListener("abort", onAbort);
        calls.delete(toolCallId);
        inFlight.add(-1);
        listening.forget(toolCallId);
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const call of calls.values()) {
        call.abort(new ToolError(ToolErrorCode.Cancelled, "The call was cancelled: its caller has ended", { details: { mayHaveRun: true } }));
      }
      await running.disposeAsync();
    },
  };
}

const neverAborted = new AbortController().signal;
