import { connect, createServer, type Server, type Socket } from "node:net";
import { type AmqpMethod, AmqpMethodScanner, type FoundMethod } from "./amqp-method-scanner.ts";

export type Direction = "toBroker" | "toClient";

/** Where a connection is to be cut. Bytes and methods are counted over all connections, from when it is asked for. */
export type CutPoint =
  | { readonly direction: Direction; readonly afterBytes: number }
  | {
      readonly method: AmqpMethod /** The first is 1. */;
      readonly nth: number /** True if the frame still gets through. */;
      readonly isForwarded: boolean;
    };

/** Stands between a client and a server of AMQP and does to their connections what networks do. */
export interface TcpFaultProxy extends AsyncDisposable {
  /** `url` with the proxy's address in place of the server's. */
  through(url: string): string;
  /** Connections open now. */
  readonly open: number;
  /** Connections that clients have opened so far, whether or not the server took them. */
  readonly accepted: number;
  /** Bytes forwarded so far. */
  readonly bytes: Readonly<Record<Direction, number>>;
  /** Resets all connections. */
  cutAll(): void;
  /**
   * Resets, once, the connection that comes to the point; resolves when that has happened. One point at a time: a new
   * one replaces it.
   */
  cutAt(point: CutPoint): Promise<void>;
  /**
   * Keeps back, once, the next frame of a method that comes in one piece, of whichever connection; all else gets
   * through. Resolves when that has happened.
   */
  swallow(method: AmqpMethod): Promise<void>;
  /**
   * While silent, connections are accepted and stay open, and not a byte is forwarded in that direction.
   * @param direction both, if it is absent
   */
  setSilent(isSilent: boolean, direction?: Direction): void;
  /** Holds every chunk back for so long. */
  setDelay(ms: number): void;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

// Long because: what its faults do and how bytes pass them share the connections and what is set
export async function startTcpFaultProxy(target: string): Promise<TcpFaultProxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<Pair>();
  const total = { toBroker: 0, toClient: 0 };
  const isSilent = { toBroker: false, toClient: false };
  let accepted = 0;
  let delayMs = 0;
  let swallowed: { readonly method: AmqpMethod; readonly done: () => void } | undefined;
  let cut: { readonly point: CutPoint; count: number; readonly done: () => void } | undefined;

  const reset = (pair: Pair) => {
    pairs.delete(pair);
    pair.client.resetAndDestroy();
    pair.server.resetAndDestroy();
  };

  /** @returns how many bytes of the chunk get through before the cut; undefined if there is none */
  const cutWithin = (chunk: Buffer, direction: Direction, methods: readonly FoundMethod[]): number | undefined => {
    if (cut === undefined) return undefined;
    const { point } = cut;
    if ("method" in point) {
      for (const [index, { method, start }] of methods.entries()) {
        if (method !== point.method || ++cut.count < point.nth) continue;
        return point.isForwarded ? (methods[index + 1]?.start ?? chunk.length) : Math.max(0, start);
      }
      return undefined;
    }
    if (point.direction !== direction) return undefined;
    const left = point.afterBytes - cut.count;
    cut.count += chunk.length;
    return chunk.length >= left ? left : undefined;
  };

  /** @returns what of the chunk gets through */
  const withoutSwallowed = (chunk: Buffer, methods: readonly FoundMethod[]): Buffer => {
    if (swallowed === undefined) return chunk;
    const { method: unwanted, done } = swallowed;
    const frame = methods.find(
      ({ method, start, bytes }) => method === unwanted && start >= 0 && start + bytes <= chunk.length,
    );
    if (frame === undefined) return chunk;
    swallowed = undefined;
    done();
    return Buffer.concat([chunk.subarray(0, frame.start), chunk.subarray(frame.start + frame.bytes)]);
  };

  const forward = (pair: Pair, from: Socket, to: Socket, direction: Direction) => {
    const scanner = new AmqpMethodScanner({ isClient: direction === "toBroker" });
    const write = (chunk: Buffer) => {
      if (!to.destroyed && !to.write(chunk)) {
        from.pause();
        to.once("drain", () => !isSilent[direction] && from.resume());
      }
    };
    from.on("data", (chunk: Buffer) => {
      const methods = scanner.scan(chunk);
      const bytes = cutWithin(chunk, direction, methods);
      const passed = bytes === undefined ? withoutSwallowed(chunk, methods) : chunk.subarray(0, bytes);
      total[direction] += passed.length;
      if (delayMs > 0) setTimeout(() => write(passed), delayMs);
      else write(passed);
      if (bytes === undefined) return;
      const { done } = cut as NonNullable<typeof cut>;
      cut = undefined;
      reset(pair);
      done();
    });
    from.on("end", () => to.end());
    from.on("error", () => reset(pair));
    from.on("close", () => {
      pairs.delete(pair);
      to.destroy();
    });
  };

  const server = createServer({ noDelay: true }, (client) => {
    const pair: Pair = { client, server: connect({ host: hostname, port: Number(port), noDelay: true }) };
    accepted++;
    pairs.add(pair);
    forward(pair, client, pair.server, "toBroker");
    forward(pair, pair.server, client, "toClient");
    if (isSilent.toBroker) pair.client.pause();
    if (isSilent.toClient) pair.server.pause();
  });
  const ownPort = await listen(server);

  return {
    through(url) {
      const address = new URL(url);
      address.host = `127.0.0.1:${ownPort}`;
      return address.href;
    },
    get open() {
      return pairs.size;
    },
    get accepted() {
      return accepted;
    },
    get bytes() {
      return { ...total };
    },
    cutAll() {
      for (const pair of [...pairs]) reset(pair);
    },
    swallow(method) {
      return new Promise((done) => {
        swallowed = { method, done };
      });
    },
    cutAt(point) {
      return new Promise((done) => {
        cut = { point, count: 0, done };
      });
    },
    setSilent(silent, direction) {
      for (const way of direction === undefined ? (["toBroker", "toClient"] as const) : [direction]) {
        isSilent[way] = silent;
        for (const { client, server } of pairs) {
          const from = way === "toBroker" ? client : server;
          if (silent) from.pause();
          else from.resume();
        }
      }
    },
    setDelay(ms) {
      delayMs = ms;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const pair of [...pairs]) reset(pair);
      await closed;
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}
