import { createServer, type Server } from "node:http";

/** A server that the tests of one run share. */
export interface SharedServer {
  /** For people. */
  readonly name: string;
  /** The variable with the address of a server that tests may use. */
  readonly urlVariable: string;
  /** The variable that tells a run's tests where to ask. */
  readonly askAtVariable: string;
  start(): Promise<AsyncDisposable & { readonly url: string }>;
}

/**
 * Offers one server to all tests of a run. It is started when the first test asks, so a run without such tests pays
 * nothing. Call it in the test runner's main process, before its workers start: they inherit where to ask.
 */
export async function offerSharedServer({ askAtVariable, start }: SharedServer): Promise<AsyncDisposable> {
  let shared: ReturnType<SharedServer["start"]> | undefined;
  const server = createServer((_request, response) => {
    shared ??= start();
    shared.then(
      ({ url }) => response.end(url),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  process.env[askAtVariable] = await listen(server);
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await (await shared?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

/** @throws {Error} that says in one line what to do, if there is no server to be had */
export async function sharedServerUrl({ name, urlVariable, askAtVariable }: SharedServer): Promise<string> {
  const given = process.env[urlVariable];
  if (given !== undefined && given !== "") return given;
  const askAt = process.env[askAtVariable];
  if (askAt === undefined) throw new Error(`No ${name} for the tests: run them by vitest in the repository's root, or set ${urlVariable}`);
  const response = await fetch(askAt, { signal: AbortSignal.timeout(600_000) });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`);
    });
  });
}
