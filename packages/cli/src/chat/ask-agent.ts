import { within } from "@rockbot/base";
import {
  type AgentEvent,
  newId,
  readOutput,
  ToolError,
  ToolErrorCode,
  type TurnOutput,
  tools,
} from "@rockbot/contracts";
import { noAgent } from "@rockbot/gateway/chat";
import type { ToolClient } from "../client/tool-client.ts";

export interface AskAgentOptions {
  /** The agent that answers, by name. @default what the session is */
  readonly agent?: string | undefined;
  /** The session that goes on with this message; undefined for one that ends with the answer. */
  readonly sessionId: string | undefined;
  readonly timeoutMs: number;
  /** Aborting cancels the turn, and with it the tool that runs for it. */
  readonly signal: AbortSignal;
  /** Gets each step of the turn, in order. */
  readonly onEvent: (event: AgentEvent) => void;
}

/** The last steps of a turn may come behind its answer, by another way. They are waited for so long. */
const REST_MS = 250;

/** One turn of the agent. @throws {ToolError} if there is no answer */
export async function askAgent(
  client: ToolClient,
  message: string,
  { agent, sessionId, timeoutMs, signal, onEvent }: AskAgentOptions,
): Promise<TurnOutput> {
  const toolCallId = newId();
  const finished = Promise.withResolvers<void>();
  const ends = new AbortController();
  const following = follow(
    client,
    { sessionId: sessionId ?? toolCallId, turnId: toolCallId, signal: ends.signal },
    (event) => {
      if (event.turnId !== toolCallId) return;
      onEvent(event);
      if (event.kind === "turn_finished") finished.resolve();
    },
  );
  try {
    await following.begun;
    const input = {
      message,
      ...(sessionId === undefined ? {} : { session_id: sessionId }),
      ...(agent === undefined ? {} : { agent }),
    };
    const response = await client.call(tools.agentChat.name, input, { toolCallId, timeoutMs, signal });
    await within(REST_MS, Promise.race([finished.promise, following.ended]), () => new Error("late")).catch(() => {});
    return readOutput(response);
  } catch (error) {
    if (signal.aborted && error instanceof ToolError && error.code === ToolErrorCode.Cancelled)
      throw new ToolError(error.code, "The turn was cancelled");
    throw await orNoAgent(error, client);
  } finally {
    ends.abort();
    await following.ended;
  }
}

/** A turn is asked for also where its steps cannot be followed: without an agent, that is the error. */
function follow(
  client: ToolClient,
  { sessionId, turnId, signal }: { readonly sessionId: string; readonly turnId: string; readonly signal: AbortSignal },
  onEvent: (event: AgentEvent) => void,
) {
  const begun = client.follow(sessionId, turnId, signal).catch(() => undefined);
  const read = async (): Promise<void> => {
    for await (const event of (await begun) ?? []) onEvent(event);
  };
  return { begun, ended: read().catch(() => {}) };
}

async function orNoAgent(error: unknown, client: ToolClient): Promise<unknown> {
  const isAway =
    error instanceof ToolError &&
    (error.code === ToolErrorCode.Unavailable || error.code === ToolErrorCode.ToolNotFound);
  // One that is off in this process says what to set.
  if (
    !isAway ||
    !(error.isRetryable || error.code === ToolErrorCode.ToolNotFound) ||
    error.details?.["mayHaveRun"] === true
  )
    return error;
  const known = await client.listTools().catch(() => undefined);
  return known?.every(({ name }) => name !== tools.agentChat.name) ? noAgent() : error;
}
