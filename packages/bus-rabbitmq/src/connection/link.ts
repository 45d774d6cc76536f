import { once } from "node:events";
import type { Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { AwakeClock, unlessAborted, within } from "@rockbot/base";
import { type Channel, type ChannelModel, type ConfirmChannel, connect } from "amqplib";
import { internalsOf, numberOf, readingOf } from "../wire/amqplib-internals.ts";
import { type ChannelListener, FrameReader } from "../wire/frame-reader.ts";
import { Outbox } from "../wire/outbox.ts";
import type { BrokerAddress } from "./broker-address.ts";
import { NOT_ALLOWED } from "./refusal.ts";

export interface LinkOptions {
  /** The name that the broker shows for the connection. */
  readonly name: string;
  readonly heartbeatSeconds: number;
  /** For how long the broker may be silent while something is due from it. */
  readonly silenceMs: number;
  readonly tls?: TlsOptions | undefined;
}

/** For `amqps:`, what node:tls takes. */
export type TlsOptions = Pick<ConnectionOptions, "ca" | "cert" | "key" | "passphrase" | "servername">;

/** The whole handshake: a peer that drips bytes must not keep us. */
const HANDSHAKE_DEADLINE_MS = 10_000;
const RPC_DEADLINE_MS = 5_000;
const CLOSE_DEADLINE_MS = 1_000;
/** Our largest frame, and the largest we take: RabbitMQ's own default. */
const MAX_FRAME_BYTES = 128 * 1024;

/** The broker owes an answer. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

/** The broker did not answer in time, or there is none. */
export class NoHandshakeError extends Error {
  override readonly name = "NoHandshakeError";
}

/**
 * Opens one connection, or gives up at once when the signal aborts. The TCP connection and each answer of the handshake
 * may take `patienceMs`.
 * @throws {NoHandshakeError} if they take longer
 * @throws {Error} if the broker refuses, or cannot be reached; no error holds a secret
 */
export async function openLink(
  { connect: address, user }: BrokerAddress,
  { name, heartbeatSeconds, tls, patienceMs }: LinkOptions & { readonly patienceMs: number },
  signal: AbortSignal,
): Promise<Link> {
  const opening = connect(
    { ...address, heartbeat: heartbeatSeconds, frameMax: MAX_FRAME_BYTES, maxFrameSize: MAX_FRAME_BYTES },
    { ...tls, noDelay: true, keepAlive: true, timeout: patienceMs, clientProperties: { connection_name: name } },
  ).then(toLink); // in this very turn: an event before its listener would be lost, or end the process
  try {
    return await within(
      HANDSHAKE_DEADLINE_MS,
      unlessAborted(opening, signal),
      () => new NoHandshakeError(`no handshake within ${HANDSHAKE_DEADLINE_MS} ms`),
    );
  } catch (error) {
    opening.then(
      (late) => late.destroy(new Error("too late")),
      () => {},
    );
    if ((error as Error).message === "connect ETIMEDOUT")
      throw new NoHandshakeError(`no answer to the handshake within ${patienceMs} ms`, { cause: error });
    // amqplib drops the broker's reason where it closes the connection instead of opening the virtual host.
    if (!/got <ConnectionClose/.test((error as Error).message)) throw error;
    const reason = `the broker refuses the virtual host "${address.vhost}": it does not exist, is not up, is not for the user "${user}", or has all connections it may have`;
    throw Object.assign(new Error(reason), { code: NOT_ALLOWED });
  }
}

function toLink(model: ChannelModel): Link {
  try {
    return new Link(model);
  } catch (error) {
    model.close().catch(() => {}); // nobody else knows of it
    throw error;
  }
}

/**
 * A channel of which no error ends the process, in the turn in which it opens, also if nobody waits for it any more.
 * The missing answer says the same, and a caller that has to know listens as well.
 */
const listened = <C extends Channel>(channel: C): C => channel.on("error", () => {});

/** One live connection to the broker. Once gone it never comes back. */
export class Link {
  /** Carries messages and acks on channels of this connection. */
  readonly outbox: Outbox;
  /** Judges what the broker owes: time that this process slept is not the broker's. */
  readonly clock = new AwakeClock();
  readonly #model: ChannelModel;
  readonly #socket: Socket;
  readonly #reader: FrameReader;
  readonly #gone = new AbortController();
  #isBlocked = false;
  /**
   * Called when the broker blocks publishers for want of memory or disk, with its reason, and with undefined when it
   * takes messages again.
   */
  onBlocked: ((reason: string | undefined) => void) | undefined;

  constructor(model: ChannelModel) {
    this.#model = model;
    const { socket, frameMax } = internalsOf(model);
    this.#socket = socket;
    this.outbox = new Outbox(socket, frameMax);
    this.#reader = new FrameReader(readingOf(model), MAX_FRAME_BYTES);
    let cause: Error | undefined;
    model.on("error", (error) => {
      cause = error;
      this.#end(error);
    });
    model.on("close", (error) => this.#end(cause ?? error ?? new Error("the connection was closed")));
    model.on("blocked", (reason) => {
      this.#isBlocked = true;
      this.onBlocked?.(reason);
    });
    model.on("unblocked", () => {
      this.#isBlocked = false;
      this.onBlocked?.(undefined);
    });
    this.#socket.on("close", () => this.#end(cause ?? new Error("the connection was closed")));
    // The broker may have closed it before anybody could listen.
    if (this.#socket.destroyed || this.#socket.writableEnded)
      this.#end(new Error("the broker closed the connection at once"));
  }

  /** Aborts when the connection is gone; the reason says why. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Resolves when the connection is gone. */
  async whenGone(): Promise<void> {
    if (!this.signal.aborted) await once(this.signal, "abort");
  }

  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** Changes whenever the peer shows a sign of life: bytes came, or a backlog of ours went. */
  get activity(): number {
    const { bytesRead, bytesWritten, writableLength } = this.#socket;
    // Without a backlog the kernel takes bytes for a peer that is long dead: that says nothing.
    return writableLength === 0 ? bytesRead : bytesRead + bytesWritten - writableLength;
  }

  /**
   * Waits for the broker's answer to a method. A broker that owes one for RPC_DEADLINE_MS loses the connection, since
   * nobody can know its state then. So the users of the connection start anew on another.
   * @throws {Error} if the answer does not come in time, or the connection is gone before
   */
  async answer<T>(method: string, answer: Promise<T>): Promise<T> {
    try {
      return await this.answerWithin(RPC_DEADLINE_MS, method, answer);
    } catch (error) {
      if (error instanceof NoAnswerError) this.destroy(error);
      throw error;
    }
  }

  /**
   * Waits for an answer of the broker, no longer than the connection lives.
   * @throws {NoAnswerError} if it does not come in time: then the connection stays
   */
  answerWithin<T>(deadlineMs: number, what: string, answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const { signal } = this;
      const settle = (outcome: () => void) => {
        callOff();
        signal.removeEventListener("abort", onGone);
        outcome();
      };
      const onGone = () => settle(() => reject(signal.reason));
      const callOff = this.clock.after(deadlineMs, () =>
        settle(() => reject(new NoAnswerError(`no answer to ${what} within ${deadlineMs} ms`))),
      );
      signal.addEventListener("abort", onGone, { once: true });
      answer.then(
        (value) => settle(() => resolve(value)),
        (error) => settle(() => reject(error)),
      );
      if (signal.aborted) onGone();
    });
  }

  openChannel(): Promise<Channel> {
    return this.answer("channel.open", this.#model.createChannel().then(listened));
  }

  openConfirmChannel(): Promise<ConfirmChannel> {
    return this.answer("confirm.select", this.#model.createConfirmChannel().then(listened));
  }

  /** Hears what comes on a channel, until it closes. */
  listen(channel: Channel, listener: ChannelListener): void {
    const number = numberOf(channel);
    this.#reader.listen(number, listener);
    channel.on("close", () => this.#reader.forget(number));
  }

  /** Finds out whether the broker still answers, and ends the connection if it does not. */
  async probe(deadlineMs: number): Promise<void> {
    try {
      const channel = await this.answerWithin(deadlineMs, "a probe", this.#model.createChannel().then(listened));
      await this.answerWithin(deadlineMs, "a probe", channel.close());
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  /** Ends the connection at once, without a word to the peer. */
  destroy(reason: Error): void {
    this.#end(reason);
  }

  /** Says goodbye, and ends the connection at once if that takes long. */
  async close(): Promise<void> {
    if (this.signal.aborted) return;
    const gone = this.whenGone();
    this.outbox.flush();
    this.#model.close().catch(() => {}); // what matters is that it ends
    await within(CLOSE_DEADLINE_MS, gone, () => new Error("no goodbye")).catch(() =>
      this.destroy(new Error("the connection was closed")),
    );
  }

  #end(reason: Error): void {
    if (!this.#gone.signal.aborted) this.#gone.abort(reason);
    // With an error: without one amqplib does not notice. It also leaves sockets open after a missed heartbeat.
    if (!this.#socket.destroyed) this.#socket.destroy(reason);
  }
}
