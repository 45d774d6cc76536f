import {
  type Bus,
  BusUnavailableError,
  MessageTooLargeError,
  type ParkedMessage,
  type ParkedVisitor,
} from "@rockbot/bus";
import { errorReply, ToolError } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import {
  createReplayer,
  type ReplayAnswer,
  ReplayRefusedError,
  type RequestForm,
  type ToolCaller,
} from "@rockbot/tools";
import type { DlqEvent } from "./dlq-event.ts";
import type { DlqRequest } from "./dlq-request.ts";
import { parkedRecord } from "./parked-record.ts";

const LISTED_BODY_BYTES = 200;
const SHOWN_BODY_BYTES = 16 * 1024;

type Emit = (event: DlqEvent) => void | Promise<void>;

/** The bus with the dead letters, and what they are read with. */
export interface DlqParts {
  readonly bus: Bus;
  /** Knows which services run. */
  readonly caller: Pick<ToolCaller, "discovered" | "tools">;
  /** The services that take calls, though they may not run now. Others are found by what they announce. */
  readonly services: readonly string[];
  /** The forms of requests that services take besides ToolInvokeRequests. */
  readonly forms: readonly RequestForm[];
  /** Decides which sender of a parked message is believed, where the bus verifies senders. */
  readonly policy?: PolicyHolder | undefined;
}

/** Carries out what an operator wants, on the bus itself. Rejects with the signal's reason if it aborts. */
export async function runDlq(parts: DlqParts, request: DlqRequest, emit: Emit, signal: AbortSignal): Promise<void> {
  try {
    switch (request.action) {
      case "list":
        return await list(parts, request, emit, signal);
      case "show":
        return await show(parts, request, emit, signal);
      case "purge":
        return await purge(parts.bus, request, emit, signal);
      case "replay":
        return await replay(parts, request, emit, signal);
    }
  } catch (error) {
    if (signal.aborted || !(error instanceof BusUnavailableError)) throw error;
    await emit({ kind: "refusal", message: error.message, isUsage: false });
  }
}

type Request<Action extends DlqRequest["action"]> = Extract<DlqRequest, { readonly action: Action }>;

async function list(
  { bus, caller, services: own, forms }: DlqParts,
  { service, limit }: Request<"list">,
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const services = service === undefined ? await knownServices(caller, own) : [service];
  for (const name of services) {
    signal.throwIfAborted();
    const parked = (await bus.inspect(name, "parked"))?.messages;
    if (parked === undefined && service !== undefined) return emit(noService(name));
    await emit({ kind: "service", service: name, parked: parked ?? null });
    await bus.visitParked(
      name,
      async (message) => {
        await emit({ kind: "parked", ...parkedRecord(name, message, { maxBodyBytes: LISTED_BODY_BYTES, forms }) });
        return "keep";
      },
      { limit, signal },
    );
  }
  await emit({ kind: "end" });
}

async function knownServices(caller: DlqParts["caller"], own: readonly string[]): Promise<string[]> {
  await caller.discovered();
  const found = caller.tools
    .getTools()
    .flatMap(({ source }) => (source === undefined || source === "local" ? [] : [source]));
  return [...new Set([...own, ...found])].sort();
}

async function show(
  { bus, forms }: DlqParts,
  { service, id }: Request<"show">,
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  let isFound = false;
  const visited = await bus.visitParked(
    service,
    async (message) => {
      if (message.message.messageId !== id) return "keep";
      isFound = true;
      await emit({ kind: "parked", ...parkedRecord(service, message, { maxBodyBytes: SHOWN_BODY_BYTES, forms }) });
      return "keep";
    },
    { signal },
  );
  await end(emit, { service, id, visited, isFound });
}

async function purge(bus: Bus, { service, id }: Request<"purge">, emit: Emit, signal: AbortSignal): Promise<void> {
  let isFound = false;
  const visited = await bus.visitParked(
    service,
    async ({ message }) => {
      if (id !== undefined && message.messageId !== id) return "keep";
      isFound = true;
      await emit({ kind: "purged", service, id: message.messageId });
      return "remove";
    },
    { signal },
  );
  await end(emit, { service, id, visited, isFound });
}

async function replay(
  { bus, policy, forms }: Pick<DlqParts, "bus" | "policy" | "forms">,
  { service, id, timeoutMs }: Request<"replay">,
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  await using replayer = createReplayer(bus, { policy, forms });
  const over = new AbortController();
  let isFound = false;
  let stopped: string | undefined;

  async function replayOne(parked: ParkedMessage): Promise<boolean> {
    const { message, parkedBy } = parked;
    const { toolName = "unknown", toolCallId = message.messageId } = parkedRecord(service, parked, {
      maxBodyBytes: 0,
      forms,
    });
    const about = { kind: "replayed", service, id: message.messageId, toolName } as const;
    let answered: ReplayAnswer;
    try {
      answered = await replayer.replay(message, service, { timeoutMs, parkedBy, signal });
    } catch (error) {
      if (signal.aborted) throw error;
      const trouble = error instanceof Error ? error.message : String(error);
      await emit({ ...about, trouble, isRemoved: false });
      // Some messages cannot be published at all. Any other trouble is most likely in the way of all others, too.
      const isOfMessage =
        error instanceof MessageTooLargeError ||
        error instanceof RangeError ||
        (error instanceof ReplayRefusedError && error.isOfMessage);
      if (!isOfMessage) {
        stopped = trouble;
        over.abort();
      }
      return false;
    }
    const { reply, isFinal } = answered;
    await emit({
      ...about,
      answer: reply instanceof ToolError ? errorReply({ toolCallId, toolName }, reply) : reply,
      isRemoved: isFinal,
    });
    return isFinal;
  }

  const visit: ParkedVisitor = async (parked) => {
    if (id !== undefined && parked.message.messageId !== id) return "keep";
    isFound = true;
    return (await replayOne(parked)) ? "remove" : "keep";
  };
  let visited: number | undefined = 0;
  try {
    visited = await bus.visitParked(service, visit, { signal: AbortSignal.any([signal, over.signal]) });
  } catch (error) {
    if (signal.aborted || !over.signal.aborted) throw error;
  }
  await end(emit, { service, id, visited, isFound }, stopped);
}

async function end(
  emit: Emit,
  {
    service,
    id,
    visited,
    isFound,
  }: {
    readonly service: string;
    readonly id: string | undefined;
    readonly visited: number | undefined;
    readonly isFound: boolean;
  },
  stopped?: string,
): Promise<void> {
  if (visited === undefined) return emit(noService(service));
  if (id !== undefined && !isFound) {
    const message = `No message ${JSON.stringify(id)} is parked for "${service}". "rockbot dlq list ${service}" shows those that are`;
    return emit({ kind: "refusal", message, isUsage: true });
  }
  await emit({ kind: "end", stopped });
}

const noService = (service: string): DlqEvent => ({
  kind: "refusal",
  message: `There is no service "${service}" on this bus, nor was there one. "rockbot dlq list" shows those that run`,
  isUsage: true,
});
