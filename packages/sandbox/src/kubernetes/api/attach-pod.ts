import { PassThrough, type Readable, Writable } from "node:stream";
import { Attach } from "@kubernetes/client-node";
import { CONTAINER } from "../pods/pod-marks.ts";
import { ApiError } from "./api-error.ts";
import type { ClusterConfig } from "./cluster-config.ts";

type WebSocket = Awaited<ReturnType<Attach["attach"]>>;

export interface AttachedPod {
  /** Its stdin: takes no more than the connection does. */
  readonly input: Writable;
  /** Its stdout from now on, where it is asked for; ends with the connection. */
  readonly output: Readable | undefined;
  /** Resolves when nothing that is written arrives any more. Never rejects. */
  readonly lost: Promise<void>;
  /** The pod's stdin ends with it. */
  close(): void;
}

/**
 * A connection that has not answered two of these is dead: what stands between may forget a silent one without a word.
 */
const PING_MS = 20_000;
/** An API server ends a connection whose messages are much larger. */
const MESSAGE_BYTES = 64 * 1024;
/** The number that stdin's messages begin with. */
const STDIN = Buffer.of(0);

/** Holds the stdin of a pod's container, its stdout, or both. @throws {ApiError} if that is refused */
export async function attachPod(
  config: ClusterConfig,
  {
    namespace,
    name,
    hasInput = true,
    hasOutput = false,
  }: {
    readonly namespace: string;
    readonly name: string;
    readonly hasInput?: boolean;
    readonly hasOutput?: boolean;
  },
): Promise<AttachedPod> {
  const output = hasOutput ? new PassThrough() : null;
  // The library sends all that its stream for stdin has, as fast as that comes: it gets one that says nothing, so that
  // the connection has stdin at all.
  const socket = await new Attach(config)
    .attach(namespace, name, CONTAINER, output, null, hasInput ? new PassThrough() : null, false)
    .catch((error: unknown) => {
      throw refused(error);
    });
  const input = inputOf(socket);
  if (output !== null) holdBack(socket, output);
  return {
    input,
    output: output ?? undefined,
    lost: untilLost(socket, input, output),
    close: () => socket.terminate(),
  };
}

function inputOf(socket: WebSocket): Writable {
  const input = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      let from = 0;
      for (; from + MESSAGE_BYTES < chunk.length; from += MESSAGE_BYTES)
        socket.send(Buffer.concat([STDIN, chunk.subarray(from, from + MESSAGE_BYTES)]), () => {}); // the last one fails, too
      socket.send(Buffer.concat([STDIN, chunk.subarray(from)]), (error) => done(error));
    },
  });
  return input.on("error", () => {}); // `lost` says when nothing arrives any more
}

/** What nobody reads stays where it is: with the API server, and in the end with who writes it. */
function holdBack(socket: WebSocket, output: PassThrough): void {
  output.on("error", () => {}); // its reader gets the error, too
  socket.on("message", () => {
    if (!output.writableNeedDrain || socket.isPaused) return;
    socket.pause();
    output.once("drain", () => socket.resume());
  });
}

function untilLost(socket: WebSocket, input: Writable, output: PassThrough | null): Promise<void> {
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  let isAlive = true;
  const look = (): void => {
    if (!isAlive && !socket.isPaused) socket.terminate();
    isAlive = false;
    socket.ping(() => {}); // a ping that cannot be sent has no answer
  };
  const ping = setInterval(() => setImmediate(look), PING_MS).unref(); // an answer that came while this process stood still is read before
  socket.on("pong", () => {
    isAlive = true;
  });
  socket.on("error", () => {}); // "close" follows
  const end = (): void => {
    clearInterval(ping);
    input.destroy();
    output?.end();
    resolve();
  };
  socket.on("close", end);
  if (socket.readyState > socket.OPEN) end();
  return lost;
}

/** The library gives a WebSocket's error event, whose words hold the status. */
function refused(event: unknown): Error {
  const words = (event as { readonly message?: unknown } | undefined)?.message;
  const text = typeof words === "string" ? words : String(event);
  const status = /Unexpected server response: (\d{3})/.exec(text)?.[1];
  return status === undefined
    ? new Error(`Cannot attach to a pod: ${text}`)
    : new ApiError("attach to a pod", Number(status), text, undefined);
}
