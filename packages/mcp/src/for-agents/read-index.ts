import { startLoop, within } from "@rockbot/base";
import { type Bus, silentLogger } from "@rockbot/bus";
import type { McpServerSummary } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { createIdentity } from "@rockbot/tools";
import { followIndex } from "./follow-index.ts";
import { ServerIndex } from "./server-index.ts";

/** Which agent asks for the index of MCP servers, and for how long. */
export interface ReadIndexOptions {
  /** The agent that asks. */
  readonly agent: string;
  /** Says as whom the bridge speaks, where the bus verifies senders. @default as mcp-bridge */
  readonly policy?: PolicyHolder | undefined;
  readonly timeoutMs: number;
}

/** A question or an answer may be lost: the bus keeps neither for a process that is not there at that moment. */
const ASK_EVERY_MS = 2_000;

/**
 * Asks which MCP servers there are, until a bridge tells, as it tells agents. Undefined if none has told all in time.
 */
export async function readIndex(
  bus: Bus,
  { agent, policy, timeoutMs }: ReadIndexOptions,
): Promise<readonly McpServerSummary[] | undefined> {
  const index = new ServerIndex();
  const whole = Promise.withResolvers<readonly McpServerSummary[]>();
  await using followed = await followIndex(bus, {
    agent,
    identity: createIdentity(bus, policy),
    hear(message) {
      index.apply(message);
      if (message.isSnapshot === true) whole.resolve(index.servers);
    },
    log: silentLogger,
  });
  await using _asking = startLoop(ASK_EVERY_MS, followed.ask);
  return await within(timeoutMs, whole.promise, () => new Error("no bridge has sent the index")).catch(() => undefined);
}
