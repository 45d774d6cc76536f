import type { McpBridge } from "@rockbot/mcp-bridge";
import type { ToolCaller } from "@rockbot/tools";
import { until } from "./bench-world.ts";

/** A server called "peer" behind a bridge, and an agent that uses it over the bus. */
export interface ProbedPeer {
  readonly caller: ToolCaller;
  readonly bridge: McpBridge;
  /** Adds a tool `grown` to the server, where a call cannot. */
  readonly grow?: (() => void) | undefined;
}

/** What an agent may rely on, and how it is found out whether it is so. A probe that throws is a no. */
export const featureProbes: Readonly<Record<string, (peer: ProbedPeer) => Promise<boolean>>> = {
  "tools are listed, with schemas": async ({ caller }) =>
    caller.tools
      .getTools()
      .some(({ name, parametersSchema }) => name === "peer__sum" && parametersSchema.includes('"a"')),
  "a call is answered": async ({ caller }) =>
    (await caller.call("peer__echo", { text: "ü" })).content === '{"text":"ü"}',
  "structured content": async ({ caller }) =>
    JSON.stringify((await caller.call("peer__sum", { a: 1, b: 2 })).structured) === '{"sum":3}',
  "a failure of the tool's own": async ({ caller }) => {
    const { isError, content } = await caller.call("peer__fail", {});
    return isError === true && content === "no luck";
  },
  "wrong arguments are told": async ({ caller }) =>
    (await codeOf(caller.call("peer__sum", { a: "one" }))) === "invalid_arguments",
  "progress, the last of it too": async ({ caller }) => {
    const seen: unknown[] = [];
    await caller.call("peer__count", {}, { onProgress: ({ progress }) => seen.push(progress) });
    return seen.at(-1) === 3;
  },
  "cancellation reaches the tool": async ({ caller }) => {
    const before = await waitsOf(caller);
    const cancel = new AbortController();
    const call = codeOf(caller.call("peer__wait", {}, { signal: cancel.signal }));
    await caller.call("peer__echo", {}); // it was sent after the other
    cancel.abort();
    return (await call) === "cancelled" && waitsGrow(caller, before);
  },
  "the deadline reaches the tool": async ({ caller }) => {
    const before = await waitsOf(caller);
    return (
      (await codeOf(caller.call("peer__wait", {}, { timeoutMs: 1_000 }))) === "timeout" && waitsGrow(caller, before)
    );
  },
  "the trace goes along": async ({ caller }) =>
    /"traceparent":"00-[0-9a-f]{32}/.test((await caller.call("peer__meta", {})).content ?? ""),
  "the server's instructions": async ({ caller }) =>
    (await caller.getGuides()).some(({ document }) => document.includes("Made for tests.")),
  "changed lists are heard": async ({ caller, grow }) => {
    if (grow === undefined) await caller.call("peer__grow", {});
    else grow();
    await until(() => caller.tools.getExecutor("peer__grown") !== undefined);
    return true;
  },
};

const waitsOf = async (caller: ToolCaller): Promise<number> => Number((await caller.call("peer__waits", {})).content);

/** Tells whether one more wait has ended: the server notices in its own time. */
async function waitsGrow(caller: ToolCaller, before: number): Promise<boolean> {
  for (let look = 0; look < 100; look++) if ((await waitsOf(caller)) > before) return true;
  return false;
}

/** The code that a call fails with; of a result that says that it failed, the one that stands for such. */
async function codeOf(call: ReturnType<ToolCaller["call"]>): Promise<string | undefined> {
  try {
    return (await call).isError ? "invalid_arguments" : undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}
