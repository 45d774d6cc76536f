import { connectPeer, type Peer, type PeerMessage, type PeerProperties } from "@rockbot/bus-rabbitmq/peer";
import { queueName } from "@rockbot/bus-rabbitmq/queue-plan";
import { decodeMessage, isReplyTopic, messages, newId, parseJson } from "@rockbot/contracts";
import type { ServiceProcess } from "./examiner.ts";

/** The caller under test, and what it is offered. */
export interface CalleeOptions {
  readonly url: string;
  /** The name of the caller under test. */
  readonly caller: string;
  readonly tool: string;
  /** The service that offers the tool. @default a name of this run alone */
  readonly service?: string | undefined;
  readonly process?: ServiceProcess | undefined;
}

/**
 * A call as it came. The last two fields say whether a queue took an answer to it, and progress; undefined if none was
 * sent.
 */
export interface HeardCall {
  readonly message: PeerMessage;
  readonly toolCallId: string;
  /** The argument `seen`: the text of the answer before. */
  readonly seen: unknown;
  readonly fault: string | undefined;
  isHeard?: boolean;
  isProgressHeard?: boolean;
}

/**
 * Stands at the other end of a caller, as a service with one tool: answers calls in good ways and bad, and keeps all
 * that comes.
 */
export class Callee implements AsyncDisposable {
  readonly options: CalleeOptions;
  readonly service: string;
  readonly calls: HeardCall[] = [];
  readonly cancels: PeerMessage[] = [];
  readonly texts = ["first", "second"].map((word) => `${word} ${newId()}`);
  readonly #peer: Peer;
  readonly #presence: object;
  readonly #beating = setInterval(
    () => this.#send(`tool.announce.${this.service}`, "ToolHeartbeat", this.#presence),
    1_000,
  );

  private constructor(options: CalleeOptions, peer: Peer) {
    this.options = options;
    this.service = options.service ?? `conformance-${newId().slice(0, 8)}`;
    this.#presence = {
      service: this.service,
      instance: newId().slice(0, 12),
      epoch: Date.now(),
      hash: newId().slice(0, 16),
      pages: 1,
    };
    this.#peer = peer;
  }

  static async open(options: CalleeOptions): Promise<Callee> {
    const callee = new Callee(options, await connectPeer(options.url));
    const topics = ["tool.invoke.#", "tool.cancel.#", "tool.announce.probe", `tool.announce.list.${callee.service}`]; // also what goes astray
    await callee.#peer.listen(topics, (message) => callee.#take(message));
    await callee.#peer.listen([], () => {}, queueName(`${callee.service}-queue`)); // callers look whether it has a consumer
    return callee;
  }

  /** Neither it nor the subscription has the service's name, so that a caller that takes one for another is seen. */
  get topic(): string {
    return `tool.invoke.${this.service}-calls`;
  }

  #take(message: PeerMessage): void {
    const { topic, properties } = message;
    if (topic.startsWith("tool.cancel.")) this.cancels.push(message);
    else if (topic.startsWith("tool.invoke")) this.#takeCall(message);
    else if (topic === "tool.announce.probe")
      void this.#send(String(properties["replyTo"]), "ToolHeartbeat", this.#presence);
    else {
      const description = "Tries its caller: call it with the text of its last answer as `seen` until it answers done.";
      const parametersSchema = JSON.stringify({ type: "object", properties: { seen: { type: "string" } } });
      const tool = {
        name: this.options.tool,
        description,
        parametersSchema,
        topic: this.topic,
        subscription: `${this.service}-queue`,
      };
      void this.#send(String(properties["replyTo"]), "ToolAnnouncement", {
        ...this.#presence,
        page: 0,
        tools: [{ ...tool, readOnly: true }],
        guides: [],
      });
    }
  }

  #takeCall(message: PeerMessage): void {
    const read = decodeMessage("ToolInvokeRequest", message.body);
    const body = (read.ok ? read.value : (read.fault.value ?? {})) as Readonly<Record<string, unknown>>;
    if (body["toolName"] !== this.options.tool && message.topic !== this.topic) return; // somebody else's
    if (this.calls.some((call) => call.message.body.equals(message.body))) return; // a repeat
    const args = parseJson(String(body["arguments"] ?? "{}"));
    const seen = args.ok ? (args.value as Readonly<Record<string, unknown>> | null)?.["seen"] : undefined;
    const call: HeardCall = {
      message,
      toolCallId: String(body["toolCallId"]),
      seen,
      fault: read.ok ? undefined : read.fault.message,
    };
    void this.#answer(call, this.calls.push(call));
  }

  /** The third call has no answer at all. */
  async #answer(call: HeardCall, number: number): Promise<void> {
    const { replyTo, headers } = call.message.properties;
    if (typeof replyTo !== "string" || !isReplyTopic(replyTo) || number === 3) return;
    const reply = async ({ message, toolCallId }: HeardCall, content: string): Promise<void> => {
      const correlationId = message.properties["correlationId"] as string; // none where there was none
      call.isHeard = await this.#send(
        replyTo,
        "ToolInvokeResponse",
        { toolCallId, toolName: this.options.tool, content },
        { correlationId },
      );
    };
    if (headers?.["rb-rb-progress"] !== undefined) {
      const update = { toolCallId: call.toolCallId, toolName: this.options.tool, sequence: 0 };
      call.isProgressHeard = await this.#send(
        replyTo.replace(/^tool\.result/, "tool.progress"),
        "ToolProgress",
        update,
        { expiration: "5000" },
      );
    }
    if (number === 1) await reply({ ...call, toolCallId: newId() }, "of another call");
    if (number === 2) await reply(this.calls[0] as HeardCall, String(this.texts[0]));
    await reply(call, this.texts[number - 1] ?? "done");
  }

  /** @returns whether a queue took the message; a broker that is gone takes none */
  #send(topic: string, name: keyof typeof messages, body: object, more: PeerProperties = {}): Promise<boolean> {
    const headers = { "rb-source": this.service, ...("hash" in body ? { "rb-rb-list-hash": String(body.hash) } : {}) };
    const own = {
      type: messages[name].type,
      messageId: newId(),
      timestamp: Math.floor(Date.now() / 1000),
      contentType: "application/json",
      deliveryMode: 2,
    };
    return this.#peer
      .publish(topic, Buffer.from(JSON.stringify(body)), { ...own, headers, ...more })
      .catch(() => false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#beating);
    await this.#peer[Symbol.asyncDispose]();
  }
}
