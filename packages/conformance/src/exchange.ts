import type { PeerMessage } from "@rockbot/bus-rabbitmq/peer";
import { decodeMessage, newId } from "@rockbot/contracts";
import { Breach } from "./breach.ts";

/** A message that answers a request, as it came. */
export interface Reply {
  readonly message: PeerMessage;
  /** The code of an error. */
  readonly code: string | undefined;
  readonly content: string | null | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  /** The ids in it. */
  readonly toolCallId: unknown;
  readonly toolName: unknown;
  /** Why it is neither a ToolInvokeResponse nor a ToolError. */
  readonly fault: string | undefined;
}

/** A request that was sent, and all that came to its own reply topic. */
export class Exchange {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The caller that it is from. */
  readonly caller: string;
  readonly correlationId: string;
  readonly replyTo: string;
  readonly asksForProgress: boolean;
  readonly replies: Reply[] = [];
  readonly progress: PeerMessage[] = [];
  /** How often it was sent. */
  sent = 0;
  #onNews = new Set<() => void>();

  constructor(fields: Pick<Exchange, "toolCallId" | "toolName" | "caller" | "replyTo" | "asksForProgress">) {
    this.toolCallId = fields.toolCallId;
    this.toolName = fields.toolName;
    this.caller = fields.caller;
    this.replyTo = fields.replyTo;
    this.asksForProgress = fields.asksForProgress;
    this.correlationId = newId(); // another than the call's id: a service that sends that back has not read it
  }

  take(message: PeerMessage): void {
    if (message.topic.startsWith("tool.progress.")) this.progress.push(message);
    else this.replies.push(readReply(message));
    for (const tell of this.#onNews) tell();
  }

  /** The reply with this number, from 0 on. @throws {Breach} if it has not come within so long */
  async reply(withinMs: number, number = 0): Promise<Reply> {
    await this.until(() => this.replies.length > number, withinMs);
    const reply = this.replies[number];
    if (reply === undefined)
      throw new Breach(`${this.what} has ${number === 0 ? "no answer" : `${number} answer(s)`} after ${withinMs} ms`);
    return reply;
  }

  /** Resolves when it is so, or after so long. */
  async until(isSo: () => boolean, withinMs: number): Promise<void> {
    if (isSo()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (isSo()) resolve();
    };
    const timer = setTimeout(resolve, withinMs);
    this.#onNews.add(look);
    await promise;
    clearTimeout(timer);
    this.#onNews.delete(look);
  }

  get what(): string {
    return `the request for "${this.toolName}" with the toolCallId ${this.toolCallId}`;
  }
}

function readReply(message: PeerMessage): Reply {
  const isError = String(message.properties["type"]).toLowerCase().endsWith("toolerror");
  const read = decodeMessage(isError ? "ToolError" : "ToolInvokeResponse", message.body);
  const value = (read.ok ? read.value : (read.fault.value ?? {})) as Readonly<Record<string, unknown>>;
  return {
    message,
    code: isError ? String(value["code"]) : undefined,
    content: value["content"] as string | null | undefined,
    details: (value["details"] ?? {}) as Reply["details"],
    toolCallId: value["toolCallId"],
    toolName: value["toolName"],
    fault: read.ok ? undefined : read.fault.message,
  };
}

/** The kind of a reply, for a sentence. */
export const described = ({ code, content, fault }: Reply): string =>
  fault !== undefined
    ? `what cannot be read (${fault})`
    : code !== undefined
      ? `the error ${code}`
      : `the result ${JSON.stringify(String(content).slice(0, 60))}`;
