import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export type ServerAddress = { readonly host: string /** 0 takes any free one. */; readonly port: number } | { readonly path: string };

export interface StartServerOptions {
  /** How long disposal waits for running requests. @default 20_000 */
  readonly drainMs?: number | undefined;
  /** Ends the waiting of disposal at once. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the waiting is over and requests still run: a last chance for them to answer, within a second, before their connections are cut. */
  readonly onDrainOver?: (() => void) | undefined;
}

export interface StartedServer extends AsyncDisposable {
  /** The TCP port; 0 on a unix socket. */
  readonly port: number;
}

/** How long requests have to answer after `onDrainOver`. */
const LAST_WORDS_MS = 1000;

/**
 * Lets the server listen; resolves once it does. Disposal stops accepting, lets running requests finish, closes idle connections, and cuts off what is left.
 * @throws {Error} with Node's `code`, such as EADDRINUSE, if it cannot listen
 */
export async function startServer(
  server: Server,
  where: ServerAddress,
  { drainMs = 20_000, signal, onDrainOver }: StartServerOptions = {},
): Promise<StartedServer> {
  let isStopping = false;
  server.prependListener("request", (_, outgoing) => {
    if (isStopping) outgoing.shouldKeepAlive = false;
    outgoing.once("close", () => {
      if (isStopping) server.closeIdleConnections();
    });
  });
  await listen(server, where);
  const address = server.address() as AddressInfo | string;

  async function stop(): Promise<void> {
    isStopping = true;
    const closed = new Promise<void>((done) => server.close(() => done()));
    server.closeIdleConnections();
    if (await hasEnded(closed, drainMs, signal)) return;
    if (onDrainOver !== undefined) {
      onDrainOver();
      if (await hasEnded(closed, LAST_WORDS_MS)) return;
    }
    server.closeAllConnections();
    await closed;
  }
  let stopping: Promise<void> | undefined;
  return {
    port: typeof address === "string" ? 0 : address.port,
    [Symbol.asyncDispose]: () => (stopping ??= stop()),
  };
}

async function listen(server: Server, where: ServerAddress): Promise<void> {
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", (error: NodeJS.ErrnoException) => {
    const [name, help] = "path" in where ? [where.path, ""] : [`${where.host}:${where.port}`, ". Free the port or choose another"];
    reject(Object.assign(new Error(`Cannot listen on ${name}: ${error.code ?? error.message}${help}`, { cause: error }), { code: error.code }));
  });
  server.listen(where, resolve);
  await listening;
}

/** Whether `done` came before the time was over or the signal aborted. */
async function hasEnded(done: Promise<void>, ms: number, signal?: AbortSignal): Promise<boolean> {
  const over = signal === undefined ? AbortSignal.timeout(ms) : AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  if (over.aborted) return false;
  const ended = Promise.withResolvers<boolean>();
  over.addEventListener("abort", () => ended.resolve(false), { once: true });
  return await Promise.race([done.then(() => true), ended.promise]);
}
