import { hash } from "node:crypto";
import { metrics } from "@opentelemetry/api";
import {
  canonicalJson,
  type ToolDefinition,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
} from "@rockbot/contracts";
import type { ToolContext, ToolExecutor, ToolLayer } from "../define/tool-executor.ts";
import type { ResultCache } from "./result-cache.ts";

/** One run that several equal calls wait for. */
interface Shared {
  readonly key: string;
  readonly outcome: Promise<ToolInvokeResponse>;
  readonly waiters: Set<ToolContext>;
  readonly controller: AbortController;
  hasStarted: boolean;
  leftFile: boolean;
}

/**
 * Answers a call with the result of an equal one of the same caller, if that is recent enough. The tool's definition
 * and the policy say how recent; 0 is never. Equal calls that come while one runs share its run. The run is aborted
 * only when the last of them leaves; it has until the latest of their deadlines. Failures are not kept, and neither is
 * what names a file that the call left: its caller may delete that. Callers never share: what one may see, another may
 * not.
 */
export function cache({ name, cacheSeconds = 0 }: ToolDefinition, results: ResultCache): ToolLayer {
  if (cacheSeconds === 0) return (next) => next;
  const lookups = metrics.getMeter("@rockbot/tools").createCounter("rockbot.tool.cache.lookups", {
    description: "Calls of tools whose results may be kept, by what was found.",
  });
  const runs = new SharedRuns(results);

  return (next) => ({
    async execute(request, context) {
      const ttlMs = 1_000 * Math.min(cacheSeconds, context.decision?.cacheSeconds ?? cacheSeconds);
      if (ttlMs === 0) return next.execute(request, context);
      const key = keyOf(name, context);
      const kept = results.get(key, ttlMs);
      const shared = kept === undefined ? runs.of(key) : undefined;
      lookups.add(1, {
        tool_name: name,
        found: kept !== undefined ? "kept" : shared !== undefined ? "running" : "nothing",
      });
      if (kept !== undefined) return { ...kept, toolCallId: request.toolCallId };
      const response = await runs.wait(shared ?? runs.begin(next, request, context, { key, ttlMs }), context);
      return { ...response, toolCallId: request.toolCallId };
    },
  });
}

/** The runs of now, each for all calls that have asked for it. */
class SharedRuns {
  readonly #results: ResultCache;
  readonly #running = new Map<string, Shared>();

  constructor(results: ResultCache) {
    this.#results = results;
  }

  of(key: string): Shared | undefined {
    return this.#running.get(key);
  }

  begin(
    next: ToolExecutor,
    request: ToolInvokeRequest,
    context: ToolContext,
    { key, ttlMs }: { readonly key: string; readonly ttlMs: number },
  ): Shared {
    const waiters = new Set<ToolContext>();
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<ToolInvokeResponse>();
    const shared: Shared = { key, outcome: promise, waiters, controller, hasStarted: false, leftFile: false };
    this.#running.set(key, shared);
    const ofAll: ToolContext = {
      ...context,
      signal: controller.signal,
      get deadline() {
        return Math.max(context.deadline, ...[...waiters].map(({ deadline }) => deadline));
      },
      progress(update) {
        for (const { progress } of waiters) progress(update);
      },
      onStarted() {
        shared.hasStarted = true;
        for (const { onStarted } of waiters) onStarted?.();
      },
      onFileLeft() {
        shared.leftFile = true;
      },
    };
    const run = async (): Promise<ToolInvokeResponse> => {
      try {
        const response = await next.execute(request, ofAll);
        if (response.isError !== true && !shared.leftFile && !controller.signal.aborted)
          this.#results.set(key, response, ttlMs);
        return response;
      } finally {
        if (this.#running.get(key) === shared) this.#running.delete(key);
      }
    };
    resolve(Promise.resolve().then(run)); // once the first waits
    return shared;
  }

  /** A waiter that leaves is answered by its deadline or its cancellation. */
  wait(shared: Shared, context: ToolContext): Promise<ToolInvokeResponse> {
    const { key, outcome, waiters, controller } = shared;
    const { signal } = context;
    waiters.add(context);
    if (shared.hasStarted) context.onStarted?.();
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiters.delete(context);
        reject(signal.reason);
        if (waiters.size > 0) return;
        if (this.#running.get(key) === shared) this.#running.delete(key); // nobody joins what ends
        controller.abort(signal.reason);
      };
      const end = () => {
        signal.removeEventListener("abort", leave);
        waiters.delete(context);
      };
      signal.addEventListener("abort", leave, { once: true });
      if (signal.aborted) leave();
      outcome.then(resolve, reject).finally(end);
    });
  }
}

/** Longer keys are hashed, which costs more than to compare a short one. */
const MAX_KEY_LENGTH = 256;

/**
 * The key of the caller, the tool and its arguments, whatever their order. A text that begins with "[", which no hash
 * does.
 */
function keyOf(name: string, { caller, input }: ToolContext): string {
  const key = canonicalJson([caller, name, input]);
  return key.length <= MAX_KEY_LENGTH ? key : hash("sha256", key, "base64url");
}
