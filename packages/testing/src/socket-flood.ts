import { connect, type NetConnectOpts, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

/** What connections of a flood do; none of them ends before the other side has destroyed it. */
export const floodKinds = {
  /** Say nothing. */
  silent: () => {},
  /** Say that they will say nothing. */
  halfClosed: (socket: Socket) => socket.end(),
  /** End in the middle of a request. */
  halfRequest: (socket: Socket) => socket.end("POST / HTTP/1.1\r\nHost: localhost\r\ncontent-length: 9\r\n\r\n{"),
  /** Send half a header, and a byte of it now and then. */
  trickle(socket: Socket) {
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nx: ");
    const timer = setInterval(() => socket.write("x"), 200);
    socket.once("close", () => clearInterval(timer));
  },
  /** Send what is no HTTP. */
  noHttp: (socket: Socket) => socket.write("\x16\x03\x01\r\n\r\n"),
  /** Ask again and again, and read nothing of it. */
  unread: (socket: Socket) => socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20)),
} as const satisfies Record<string, (socket: Socket) => unknown>;

export interface SocketFlood extends Disposable {
  /** How many connections are open now. */
  readonly open: number;
}

/**
 * Opens so many connections that never end by themselves, and another for each that the server destroys, some seconds
 * later. Resolves once all of the first have been tried.
 */
export async function floodSockets(
  where: NetConnectOpts,
  count: number,
  kind: keyof typeof floodKinds,
): Promise<SocketFlood> {
  const stop = new AbortController();
  const open = new Set<Socket>();

  function keepOne(): Promise<void> {
    const { promise: tried, resolve } = Promise.withResolvers<void>();
    const socket = connect({ ...where, allowHalfOpen: true }, () => {
      floodKinds[kind](socket);
      if (!kind.startsWith("un")) socket.resume(); // else it never hears of its end
      resolve();
    });
    open.add(socket);
    socket.on("error", () => {}); // the server may reset it
    socket.once("close", () => {
      open.delete(socket);
      resolve();
      void setTimeout(3000 + Math.random() * 3000, undefined, { signal: stop.signal }).then(keepOne, () => {});
    });
    return tried;
  }
  let left = count;
  await Promise.all(
    Array.from({ length: 100 }, async () => {
      while (left-- > 0) await keepOne(); // more at once overrun the system's queue of connections, and are tried again a second later
    }),
  );
  return {
    get open() {
      return open.size;
    },
    [Symbol.dispose]() {
      stop.abort();
      for (const socket of open) socket.destroy();
    },
  };
}
