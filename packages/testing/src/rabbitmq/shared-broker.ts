import { randomBytes } from "node:crypto";
import {
  askSharedServer,
  givenUrl,
  offerSharedServer,
  type SharedServer,
  sharedServerUrl,
} from "../machine/servers/shared-server.ts";
import { startOwnBroker } from "./start-own-broker.ts";
import type { TestBroker } from "./test-broker.ts";

/** So many virtual hosts are made at once. */
const HOSTS_AT_ONCE = 8;

/** What a test asks of the run's broker. */
type Question =
  | { readonly ask: "virtual host" }
  | { readonly ask: "import"; readonly definitions: object }
  | { readonly ask: "ctl"; readonly args: readonly string[] };

const broker: SharedServer<TestBroker> = {
  name: "RabbitMQ",
  urlVariable: "ROCKBOT_TEST_AMQP_URL",
  askAtVariable: "ROCKBOT_TEST_BROKER_ASK_AT",
  start: () => startOwnBroker({ hasManagement: true, isShared: true }), // by management it makes virtual hosts and users in no time
  answer: answers(),
};

/** Offers one RabbitMQ to all tests of a run: see offerSharedServer. */
export const offerSharedBroker = (): Promise<AsyncDisposable> => offerSharedServer(broker);

/**
 * The address of a RabbitMQ that tests share: `ROCKBOT_TEST_AMQP_URL`, or the one of this run. Tests must not harm it.
 * Await it at the top of a test file: the first to ask waits until the broker has started.
 * @throws {Error} that says in one line what to do, if no broker can be found or started
 */
export const sharedAmqpUrl = (): Promise<string> => sharedServerUrl(broker);

/**
 * A virtual host of one's own: what is declared and published there, nobody else sees. Users are the broker's, and
 * others' too.
 */
export interface OwnVirtualHost extends AsyncDisposable {
  readonly name: string;
  /** With the user `test` and its password, who may do everything in it. */
  readonly url: string;
  /** Runs `rabbitmqctl`, which takes `-p NAME` for this host. @returns its output */
  ctl(...args: string[]): Promise<string>;
  /** Adds what the definitions, an object for JSON, say: of this host, and users. */
  importDefinitions(definitions: object): Promise<void>;
}

/**
 * A virtual host of the broker of this run, which costs less than a hundredth of a broker of one's own; where the
 * broker is given from outside, a broker of one's own. For tests that harm no broker.
 */
export async function ownVirtualHost(): Promise<OwnVirtualHost> {
  if (givenUrl(broker) !== undefined) return { ...(await startOwnBroker()), name: "/" };
  const question = (asked: Question) => askSharedServer(broker, JSON.stringify(asked));
  const name = await question({ ask: "virtual host" });
  return {
    name,
    url: `${await sharedAmqpUrl()}/${name}`,
    ctl: (...args) => question({ ask: "ctl", args }),
    importDefinitions: async (definitions) => void (await question({ ask: "import", definitions })),
    async [Symbol.asyncDispose]() {}, // it ends with the broker
  };
}

/** One after the other, but for `rabbitmqctl`, which takes seconds on a busy machine, and disturbs nobody. */
function answers(): (server: TestBroker, question: string) => Promise<string> {
  const free: string[] = [];
  let last: Promise<unknown> = Promise.resolve();
  async function answer(server: TestBroker, asked: Exclude<Question, { readonly ask: "ctl" }>): Promise<string> {
    if (asked.ask === "import") {
      await server.importDefinitions(asked.definitions);
      return "";
    }
    if (free.length === 0) {
      const names = Array.from({ length: HOSTS_AT_ONCE }, () => `test-${randomBytes(4).toString("hex")}`);
      const user = new URL(server.url).username;
      await server.importDefinitions({
        vhosts: names.map((name) => ({ name })),
        permissions: names.map((vhost) => ({ user, vhost, configure: ".*", write: ".*", read: ".*" })),
      });
      free.push(...names);
    }
    return free.pop() as string;
  }
  return (server, question) => {
    const asked = JSON.parse(question) as Question;
    if (asked.ask === "ctl") return server.ctl(...asked.args);
    const answered = last.then(() => answer(server, asked));
    last = answered.catch(() => {});
    return answered;
  };
}
