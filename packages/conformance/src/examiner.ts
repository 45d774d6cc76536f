import { pause } from "@rockbot/base";
import { connectPeer, type Peer, type PeerMessage, type PeerProperties } from "@rockbot/bus-rabbitmq/peer";
import { queueName } from "@rockbot/bus-rabbitmq/queue-plan";
import { type AnnouncedTool, messages, newId } from "@rockbot/contracts";
import { Breach, must, NotTried } from "./breach.ts";
import { described, Exchange, type Reply } from "./exchange.ts";
import { Hearing } from "./hearing.ts";

/** A call that is safe to make, however often. */
export interface SafeCall {
  readonly tool: string;
  /** A JSON object as text. */
  readonly arguments: string;
}

/** The service as something that the examiner may start and end. */
export interface ServiceProcess {
  start(): Promise<void>;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  /** Asks it to end, and waits for that. @returns its exit code; undefined if that is not known */
  stop(): Promise<number | undefined>;
  /** How what was started last has ended, in words; undefined while it runs. Absent where that cannot be known. */
  howEnded?(): string | undefined;
}

export interface ExaminerOptions {
  readonly url: string;
  readonly topic: string;
  /** Name and subscription of the service. */
  readonly service: string;
  readonly quick: SafeCall;
  /** One that takes a second or more, and can be cancelled. */
  readonly slow?: SafeCall | undefined;
  readonly process?: ServiceProcess | undefined;
}

export interface SendOptions {
  /** @default the quick call */
  readonly call?: SafeCall | undefined;
  readonly toolCallId?: string | undefined;
  /** The caller that it is from. @default a caller of its own, for which no result is kept, and no limit used up */
  readonly caller?: string | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  readonly asksForProgress?: boolean | undefined;
  /** How long the request is of use, in milliseconds. @default 30_000 */
  readonly expirationMs?: number | undefined;
  /** Fields of the body besides those of the call. */
  readonly more?: Readonly<Record<string, unknown>> | undefined;
  /** The body to send in place of the whole one. */
  readonly body?: string | Uint8Array | undefined;
  readonly type?: string | undefined;
  readonly replyTo?: string | undefined;
}

/** An answer to something that takes no time has so long. */
export const ANSWER_MS = 5_000;
/** A service has so long to start. */
export const START_MS = 30_000;
/** A call that was sent is running after this long, where nothing tells. */
const BEGUN_MS = 400;

/** Stands at the other end of a service: calls it in good ways and bad, and keeps all that comes. */
export class Examiner implements AsyncDisposable {
  readonly options: ExaminerOptions;
  readonly peer: Peer;
  readonly hearing: Hearing;
  readonly exchanges: Exchange[] = [];
  /** How long the slow call takes, once that was seen. */
  slowMs: number | undefined;
  readonly #name = `conformance-${newId().slice(0, 8)}`;
  #callers = 0;
  readonly #byTopic = new Map<string, (message: PeerMessage) => void>();

  private constructor(options: ExaminerOptions, peer: Peer) {
    this.options = options;
    this.peer = peer;
    this.hearing = new Hearing(options.service);
  }

  static async open(options: ExaminerOptions): Promise<Examiner> {
    const examiner = new Examiner(options, await connectPeer(options.url));
    const name = examiner.#name;
    await examiner.peer.listen(
      [`tool.announce.${options.service}`, `tool.result.${name}.#`, `tool.progress.${name}.#`, `${name}.#`],
      (message) => {
        if (message.topic.startsWith("tool.announce.")) examiner.hearing.take(message);
        else examiner.#byTopic.get(message.topic.replace(/^tool\.progress\./, "tool.result."))?.(message);
      },
    );
    return examiner;
  }

  /** The tool of a call as the service announces it. A tool that is not announced may do anything. */
  toolOf({ tool }: SafeCall): Pick<AnnouncedTool, "readOnly" | "idempotent"> {
    return this.hearing.tools.find(({ name }) => name === tool) ?? { readOnly: false, idempotent: false };
  }

  /** @throws {NotTried} if there is none */
  get slow(): SafeCall {
    const { slow } = this.options;
    if (slow === undefined)
      throw new NotTried("it needs a slow call: --slow-arguments, and --slow-tool if it is another tool");
    if (this.slowMs !== undefined && this.slowMs < 1_000)
      throw new NotTried(`the slow call takes ${this.slowMs} ms only: it needs one of a second or more`);
    return slow;
  }

  /** A topic of the examiner's own under which only `take` hears. */
  topicFor(take: (message: PeerMessage) => void, root = "tool.result."): string {
    const topic = `${root}${this.#name}.${newId().slice(0, 12)}`;
    this.#byTopic.set(topic, take);
    return topic;
  }

  /** Sends a request. @throws {Breach} if no queue takes it */
  async send(options: SendOptions = {}): Promise<Exchange> {
    const {
      call = this.options.quick,
      toolCallId = newId(),
      caller = this.newCaller(),
      asksForProgress = false,
    } = options;
    const topic = this.topicFor((message) => exchange.take(message));
    const exchange: Exchange = new Exchange({
      toolCallId,
      toolName: call.tool,
      caller,
      replyTo: topic,
      asksForProgress,
    });
    this.exchanges.push(exchange);
    await this.sendAgain(exchange, options);
    return exchange;
  }

  /** Sends the request of an exchange once more. */
  async sendAgain(exchange: Exchange, options: SendOptions = {}): Promise<void> {
    const {
      call = this.options.quick,
      more,
      expirationMs = 30_000,
      headers,
      type = messages.ToolInvokeRequest.type,
    } = options;
    const { toolCallId, toolName, caller, correlationId, asksForProgress } = exchange;
    const body = options.body ?? JSON.stringify({ toolCallId, toolName, arguments: call.arguments, ...more });
    exchange.sent++;
    const isTaken = await this.peer.publish(this.options.topic, Buffer.from(body as string), {
      ...this.#properties(type, caller),
      correlationId,
      replyTo: options.replyTo ?? exchange.replyTo,
      expiration: String(expirationMs),
      headers: { "rb-source": caller, ...(asksForProgress ? { "rb-rb-progress": "1" } : {}), ...headers },
    });
    must(isTaken, `a request on "${this.options.topic}" came back: no queue is bound to the topic`);
  }

  async cancel({ toolCallId, caller }: Pick<Exchange, "toolCallId" | "caller">): Promise<void> {
    const body = Buffer.from(JSON.stringify({ toolCallId, reason: "the conformance runner tries a cancel" }));
    const isTaken = await this.peer.publish(`tool.cancel.${this.options.service}`, body, {
      ...this.#properties(messages.ToolCancel.type, caller),
      expiration: "10000",
    });
    must(isTaken, `a cancel on "tool.cancel.${this.options.service}" came back: no queue is bound to the topic`);
  }

  async probe(topic: string, replyTo: string, asked: object): Promise<void> {
    const properties = { ...this.#properties(messages.ToolAnnounceProbe.type), replyTo, expiration: "3000" };
    must(
      await this.peer.publish(topic, Buffer.from(JSON.stringify(asked)), properties),
      `a probe on "${topic}" came back: no queue is bound to the topic`,
    );
  }

  /** Sends the slow call, and resolves once it most likely runs. */
  async begin(options: Omit<SendOptions, "call"> = {}): Promise<Exchange> {
    const exchange = await this.send({ call: this.slow, ...options });
    await exchange.until(() => exchange.progress.length > 0 || exchange.replies.length > 0, BEGUN_MS);
    return exchange;
  }

  /** The longest that the slow call may take. */
  get patienceMs(): number {
    return (this.slowMs ?? 20_000) + ANSWER_MS;
  }

  newCaller(): string {
    return `${this.#name}-${++this.#callers}`;
  }

  /** The consumers of the service's requests, and the number of requests that wait. */
  look(part: "main" | "parked" = "main") {
    return this.peer.look(queueName(this.options.service, part));
  }

  /** Tells whether the service's requests have a consumer, now or soon. */
  isConsumed(withinMs: number): Promise<boolean> {
    return this.until(async () => ((await this.look())?.consumers ?? 0) > 0, withinMs);
  }

  /** Tells whether the service answers a good request. Waits for one that somebody else starts anew. */
  async isUp(): Promise<boolean> {
    if (!(await this.isConsumed(this.options.process === undefined ? ANSWER_MS : BEGUN_MS))) return false;
    const exchange = await this.send();
    await exchange.until(() => exchange.replies.length > 0, ANSWER_MS);
    return exchange.replies.length > 0;
  }

  readonly until = until;

  async [Symbol.asyncDispose](): Promise<void> {
    await this.peer[Symbol.asyncDispose]();
  }

  #properties(type: string, source = this.#name): PeerProperties {
    return {
      type,
      messageId: newId(),
      timestamp: Math.floor(Date.now() / 1000),
      contentType: "application/json",
      deliveryMode: 2,
      headers: { "rb-source": source },
    };
  }
}

/** Looks now and again. @returns whether it was so in time */
export async function until(isSo: () => Promise<boolean> | boolean, withinMs: number): Promise<boolean> {
  for (const end = performance.now() + withinMs; performance.now() < end; ) {
    if (await isSo()) return true;
    await pause(50);
  }
  return false;
}

/** @throws {Breach} unless the reply is the error */
export function mustBe(code: string, reply: Reply, what: string): void {
  if (reply.code !== code)
    throw new Breach(`${what} was answered with ${described(reply)}; expected the error ${code}`);
}

/** @throws {Breach} unless the reply is a result */
export function mustBeResult(reply: Reply, what: string): void {
  if (reply.code !== undefined || reply.fault !== undefined)
    throw new Breach(`${what} was answered with ${described(reply)}; expected a result`);
}
