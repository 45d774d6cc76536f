import { createServer, type IncomingMessage, type Server } from "node:http";
import { text } from "node:stream/consumers";

/** A server that the tests of one run share. */
export interface SharedServer<Started extends AsyncDisposable & { readonly url: string }> {
  /** The name for people. */
  readonly name: string;
  /** The variable with the address of a server that tests may use. */
  readonly urlVariable: string;
  /** The variable that tells a run's tests where to ask. */
  readonly askAtVariable: string;
  start(): Promise<Started>;
  /** What a test asks of it beside its address. @default nothing can be asked */
  readonly answer?: (server: Started, question: string) => Promise<string>;
}

/**
 * Offers one server to all tests of a run. It is started when the first test asks, so a run without such tests pays
 * nothing. Where the start fails, the next test that asks has it tried again. Call it in the test runner's main
 * process, before its workers start: they inherit where to ask.
 */
export async function offerSharedServer<Started extends AsyncDisposable & { readonly url: string }>({
  askAtVariable,
  start,
  answer = async () => "",
}: SharedServer<Started>): Promise<AsyncDisposable> {
  let shared: Promise<Started> | undefined;
  function started(): Promise<Started> {
    shared ??= start().catch((error: unknown) => {
      shared = undefined;
      throw error;
    });
    return shared;
  }
  async function answerTo(request: IncomingMessage): Promise<string> {
    const question = await text(request);
    const server = await started();
    return request.method === "POST" ? answer(server, question) : server.url;
  }
  const server = createServer((request, response) => {
    answerTo(request).then(
      (words) => response.end(words),
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

type Asked = Pick<SharedServer<never>, "name" | "urlVariable" | "askAtVariable">;

/** The address of a server that is given from outside, and is no run's own. */
export const givenUrl = ({ urlVariable }: Asked): string | undefined => process.env[urlVariable] || undefined;

/** @throws {Error} that says in one line what to do, if no server can be found or started */
export async function sharedServerUrl(server: Asked): Promise<string> {
  return givenUrl(server) ?? ask(server, { method: "GET" });
}

/** Asks the run's own server. @throws {Error} as `sharedServerUrl`, or what went wrong with the answer */
export const askSharedServer = (server: Asked, question: string): Promise<string> =>
  ask(server, { method: "POST", body: question });

async function ask({ name, urlVariable, askAtVariable }: Asked, request: RequestInit): Promise<string> {
  const askAt = process.env[askAtVariable];
  if (askAt === undefined)
    throw new Error(`No ${name} for the tests: run them by vitest in the repository's root, or set ${urlVariable}`);
  const response = await fetch(askAt, { ...request, signal: AbortSignal.timeout(600_000) });
  const words = await response.text();
  if (!response.ok) throw new Error(words);
  return words;
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`);
    });
  });
}
