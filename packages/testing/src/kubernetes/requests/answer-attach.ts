import type { RawData, WebSocket } from "ws";
import type { RunningContainer } from "../kubelet/pod-worker.ts";

/** The protocols in the order in which a server prefers them. The second cannot close stdin alone. */
export const ATTACH_PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"];

const Channel = { Stdin: 0, Stdout: 1, Stderr: 2, Error: 3, Resize: 4, Close: 255 } as const;
const NORMAL = 1000;
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/**
 * Connects a client with the streams of a running container, each message of which begins with the number of its
 * stream. What was written before it came is not sent. When the container ends, the error stream says so and the
 * connection is closed.
 */
export function answerAttach(socket: WebSocket, container: RunningContainer | undefined, query: URLSearchParams): void {
  const wants = (name: string): boolean => query.get(name) === "true" || query.get(name) === "1";
  const process = container?.process;
  if (container === undefined || process === undefined || container.state.running === undefined) {
    const message = "container not found";
    finish(socket, { metadata: {}, status: "Failure", message, reason: "InternalError", code: 500 });
    return;
  }
  const forward = (channel: number) => (data: Buffer) => {
    if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.send(Buffer.concat([Buffer.of(channel), data]));
  };
  const [toStdout, toStderr] = [forward(Channel.Stdout), forward(Channel.Stderr)];
  if (wants("stdout")) process.stdout.on("data", toStdout);
  if (wants("stderr")) process.stderr.on("data", toStderr);
  const stdin = wants("stdin") ? container.stdin : null;
  const closeStdin = (): void => void stdin?.end(); // pods of scripts take it once
  socket.on("message", (message: RawData) => {
    const data = Buffer.isBuffer(message) ? message : Buffer.concat(message as Buffer[]);
    if (data[0] === Channel.Stdin && stdin?.writable === true && !stdin.write(data.subarray(1))) {
      socket.pause();
      stdin.once("drain", () => socket.resume());
    }
    if (data[0] === Channel.Close && data[1] === Channel.Stdin && socket.protocol === ATTACH_PROTOCOLS[0]) closeStdin();
  });
  socket.on("error", () => {});
  socket.once("close", () => {
    process.stdout.off("data", toStdout);
    process.stderr.off("data", toStderr);
    closeStdin();
  });
  void process.ended.then(() => finish(socket, { metadata: {}, status: "Success" }));
}

function finish(socket: WebSocket, status: object): void {
  if (socket.readyState !== socket.OPEN) return;
  socket.send(Buffer.concat([Buffer.of(Channel.Error), Buffer.from(JSON.stringify(status))]));
  socket.close(NORMAL);
}
