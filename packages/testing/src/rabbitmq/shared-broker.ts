import { createServer, type Server } from "node:http";
import { startOwnBroker } from "./start-own-broker.ts";
import type { TestBroker } from "./test-broker.ts";

/** Where tests of one run ask for the broker that they share. */
const ASK_AT = "ROCKBOT_TEST_BROKER_ASK_AT";

/**
 * Offers one RabbitMQ to all tests of a run. It is started when the first test asks, so a run without such tests pays
 * nothing. Call it in the test runner's main process, before its workers start: they inherit where to ask.
 */
export async function offerSharedBroker(): Promise<AsyncDisposable> {
  let broker: Promise<TestBroker> | undefined;
  const server = createServer((_request, response) => {
    broker ??= startOwnBroker();
    broker.then(
      ({ url }) => response.end(url),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  process.env[ASK_AT] = await listen(server);
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await (await broker?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

/**
 * The address of a RabbitMQ that tests share: `ROCKBOT_TEST_AMQP_URL`, or the one of this run. Tests must not harm it.
 * Await it at the top of a test file: the first to ask waits until the broker has started.
 * @throws {Error} that says in one line what to do, if there is no broker to be had
 */
export async function sharedAmqpUrl(): Promise<string> {
  const given = process.env["ROCKBOT_TEST_AMQP_URL"];
  if (given !== undefined && given !== "") return given;
  const askAt = process.env[ASK_AT];
  if (askAt === undefined) throw new Error("No RabbitMQ for the tests: run them by vitest in the repository's root, or set ROCKBOT_TEST_AMQP_URL");
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
