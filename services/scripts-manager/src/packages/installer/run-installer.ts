import type { Duplex, Writable } from "node:stream";
import type { HostGate } from "@rockbot/edge/gate";
import { type Sandbox, writeTo } from "@rockbot/sandbox";
import { type FilePiece, type InstallRequest, type Resolution, readInstallerFrames } from "./installer-frames.ts";

export interface RunInstallerOptions {
  readonly request: InstallRequest;
  readonly gate: HostGate;
  /**
   * Called once it is known what will be installed. Without a taker, nothing is sent. It throws if this must not be.
   */
  readonly onResolved: (resolution: Resolution) => Promise<((piece: FilePiece) => Promise<void>) | undefined>;
  readonly signal: AbortSignal;
}

/**
 * What became of it: all files have been taken, nobody took them, pip has failed with some words, or its sandbox has
 * ended.
 */
export type InstallerEnd =
  | { readonly kind: "installed" | "not_taken" | "gone" }
  | { readonly kind: "failed"; readonly words: string };

/**
 * Has the installer in a sandbox install, with the gate as its only way to anywhere, and hands on what it has
 * installed.
 * @throws what `onResolved` and its taker throw; {Error} if the installer does not keep to `installer-frames.ts`; the
 * signal's reason
 */
export async function runInstaller(
  sandbox: Sandbox,
  { request, gate, onResolved, signal }: RunInstallerOptions,
): Promise<InstallerEnd> {
  const connections = new Map<number, Duplex>();
  const aborted = (): void => void sandbox.output.destroy(signal.reason as Error);
  signal.throwIfAborted();
  signal.addEventListener("abort", aborted, { once: true });
  sandbox.input.on("error", () => {}); // then its output ends too
  sandbox.input.write(`${JSON.stringify(request)}\n`);
  let take: ((piece: FilePiece) => Promise<void>) | undefined;
  try {
    for await (const frame of readInstallerFrames(sandbox.output)) {
      if (gate.fault?.kind === "too_large") return { kind: "failed", words: "" }; // pip would try again
      if (frame.frame === "opened")
        connections.set(frame.connection, connection(gate, frame.connection, sandbox.input));
      if (frame.frame === "sent") await pass(connections.get(frame.connection), frame.data, signal);
      if (frame.frame === "closed") close(connections, frame.connection);
      if (frame.frame === "failed") return { kind: "failed", words: frame.words };
      if (frame.frame === "resolved") {
        take = await onResolved(frame);
        if (take === undefined) return { kind: "not_taken" };
      }
      if (frame.frame === "file") await take?.(frame);
      if (frame.frame === "installed" && take !== undefined) return { kind: "installed" };
    }
    return { kind: "gone" };
  } finally {
    signal.removeEventListener("abort", aborted);
    for (const open of connections.values()) open.destroy();
  }
}

/** Connects one of the installer's connections with the gate. */
function connection(gate: HostGate, number: number, input: Writable): Duplex {
  const stream = gate.open();
  const send = (message: object): void => {
    if (!input.writable) return;
    if (input.write(`${JSON.stringify({ connection: number, ...message })}\n`)) return;
    stream.pause();
    input.once("drain", () => stream.resume());
  };
  stream.on("data", (chunk: Buffer) => send({ data: chunk.toString("base64") }));
  stream.once("close", () => send({}));
  stream.once("end", () => stream.end());
  return stream;
}

/** A reader that has stopped is gone, or the gate cuts it off in time. */
async function pass(stream: Duplex | undefined, data: string, signal: AbortSignal): Promise<void> {
  if (stream !== undefined) await writeTo(stream, Buffer.from(data, "base64"), signal);
}

function close(connections: Map<number, Duplex>, number: number): void {
  connections.get(number)?.end();
  connections.delete(number);
}
