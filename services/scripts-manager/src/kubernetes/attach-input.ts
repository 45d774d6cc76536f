import { PassThrough, type Writable } from "node:stream";
import { Attach } from "@kubernetes/client-node";
import { ApiError } from "./api-error.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { CONTAINER } from "./pod-marks.ts";

export interface AttachedInput {
  readonly input: Writable;
  /** Resolves when nothing that is written arrives any more. Never rejects. */
  readonly lost: Promise<void>;
  /** The pod's stdin ends with it. */
  close(): void;
}

/** A connection that has not answered two of these is dead: what stands between may forget a silent one without a word. */
const PING_MS = 20_000;

/** Holds the stdin of a pod's container. @throws {ApiError} if that is refused */
export async function attachInput(config: ClusterConfig, namespace: string, pod: string): Promise<AttachedInput> {
  const input = new PassThrough();
  const socket = await new Attach(config).attach(namespace, pod, CONTAINER, null, null, input, false).catch((error: unknown) => {
    throw refused(error);
  });
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  let isAlive = true;
  const ping = setInterval(() => {
    if (!isAlive) socket.terminate();
    isAlive = false;
    socket.ping(() => {}); // one that cannot be sent shows by its answer that does not come
  }, PING_MS).unref();
  socket.on("pong", () => {
    isAlive = true;
  });
  socket.on("error", () => {}); // "close" follows
  socket.on("close", () => {
    clearInterval(ping);
    input.destroy();
    resolve();
  });
  if (socket.readyState > socket.OPEN) resolve();
  return { input, lost, close: () => socket.terminate() };
}

/** The library gives a WebSocket's error event, whose words hold the status. */
function refused(event: unknown): Error {
  const words = (event as { readonly message?: unknown } | undefined)?.message;
  const text = typeof words === "string" ? words : String(event);
  const status = /Unexpected server response: (\d{3})/.exec(text)?.[1];
  return status === undefined ? new Error(`Cannot attach to a pod: ${text}`) : new ApiError("attach to a pod", Number(status), text, undefined);
}
