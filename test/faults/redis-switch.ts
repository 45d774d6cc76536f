import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** An address that leads to one Redis, and later to another, as that of a service whose master changes does. */
export interface RedisSwitch extends AsyncDisposable {
  readonly url: string;
  /** Ends all connections; those that come lead to this one. */
  turnTo(url: string): void;
}

/** @param url the first; all have the same password */
export async function startRedisSwitch(url: string): Promise<RedisSwitch> {
  let target = new URL(url);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
  };
  const server = createServer((inside) => {
    const outside = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      keep(socket);
      socket.once("close", () => other.destroy());
      socket.pipe(other);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = new URL(url);
  own.hostname = "127.0.0.1";
  own.port = String((server.address() as AddressInfo).port);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: own.href,
    turnTo(next) {
      target = new URL(next);
      cut();
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      cut();
      await closed;
    },
  };
}
