import { unlessAborted } from "@rockbot/base";
import { definedBy, ToolError, tools } from "@rockbot/contracts";
import type { ServiceEntry } from "@rockbot/search";
import type { AgentHost } from "./agent-plugin.ts";

interface Known {
  entries: readonly ServiceEntry[];
  /** The time of the question, on the clock of `performance.now()`. */
  askedAt: number;
  /** The definition of `invoke_agent` then. It names the agents, so another one says that some came or went. */
  names: string | undefined;
  asking: Promise<void> | undefined;
  /** Why those of now are not known. */
  fault?: string | undefined;
}

/** Cards change rarely, and each question is a call of the caller. Agents that come or go are asked for at once. */
const FRESH_MS = 60_000;
/** Callers whose agents are remembered. */
const MAX_KNOWN_OF = 1_000;
/** The timeout of the call. */
const ASK_MS = 10_000;
/** How long a turn waits for it. */
const WAIT_MS = 1_000;
/** As many as the service knows. */
const MAX_AGENTS = 1_000;
const MAX_SKILLS = 100;

/**
 * The agents of other makers that each caller may turn to, as `list_known_agents` has them for it: at most a minute
 * old, and anew when the names change. What they say of themselves is strangers' text. Without that tool there are
 * none.
 */
export class KnownAgents {
  readonly #host: Pick<AgentHost, "caller" | "log">;
  readonly #known = new Map<string, Known>();
  readonly #stop = new AbortController();

  constructor(host: Pick<AgentHost, "caller" | "log">) {
    this.#host = host;
  }

  of(by: string): readonly ServiceEntry[] {
    return this.#known.get(by)?.entries ?? [];
  }

  /** Why they may be more or others; undefined if they are those of the last minute. */
  faultOf(by: string): string | undefined {
    const known = this.#known.get(by);
    return known?.asking === undefined ? known?.fault : "unavailable: the service has not answered yet";
  }

  /**
   * Asks for those of a caller, unless that was done a short time ago. Waits a second at most: a later answer counts
   * from the next turn on.
   */
  async refresh(by: string): Promise<void> {
    const offered = new Map(this.#host.caller.toolsOf(by).map((tool) => [tool.name, tool.parametersSchema]));
    if (!offered.has(tools.listKnownAgents.name)) return void this.#known.delete(by);
    const names = offered.get(tools.invokeAgent.name);
    const known = this.#known.get(by) ?? { entries: [], askedAt: Number.NEGATIVE_INFINITY, names, asking: undefined };
    if (!this.#known.has(by) && this.#known.size >= MAX_KNOWN_OF) this.#known.clear();
    this.#known.set(by, known);
    if (known.asking === undefined && known.names === names && performance.now() - known.askedAt < FRESH_MS) return;
    known.asking ??= this.#ask(by, known).finally(() => {
      Object.assign(known, { names, asking: undefined }); // of those who came meanwhile the answer may say nothing
    });
    await unlessAborted(known.asking, AbortSignal.any([this.#stop.signal, AbortSignal.timeout(WAIT_MS)])).catch(
      () => {},
    );
  }

  /** Ends what is asked for. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#known.values()].map(({ asking }) => asking));
  }

  async #ask(by: string, known: Known): Promise<void> {
    const { caller, log } = this.#host;
    known.askedAt = performance.now();
    try {
      const onBehalfOf = by === caller.agent ? undefined : by;
      const { structured } = await caller.call(
        tools.listKnownAgents.name,
        {},
        { onBehalfOf, timeoutMs: ASK_MS, signal: this.#stop.signal },
      );
      known.entries = entriesIn(structured);
      known.fault = undefined;
    } catch (error) {
      known.fault =
        error instanceof ToolError
          ? `${error.code}: they could not be listed`
          : "unavailable: the answer is no list of agents"; // none of its words
      if (!this.#stop.signal.aborted)
        log.debug({ caller: by, reason: String(error) }, "could not list the agents that a caller may turn to");
    }
  }
}

/** @throws {Error} if it is no list of agents: the tool of that name may be anybody's */
function entriesIn(structured: unknown): readonly ServiceEntry[] {
  if (!tools.listKnownAgents.validateOutput?.(structured)) throw new Error("the answer is no list of agents");
  return structured.agents.slice(0, MAX_AGENTS).map(
    ({ agentName, description, isApproved = false, skills }): ServiceEntry => ({
      id: agentName,
      type: "a2a",
      summary: description,
      tools: [],
      skills: skills.slice(0, MAX_SKILLS).map(({ id, description: told, tags = [], examples = [] }) => ({
        name: id,
        description: [told, ...tags, ...examples].join("\n"),
      })),
      trust: definedBy(`a2a:${agentName}`, isApproved),
    }),
  );
}
