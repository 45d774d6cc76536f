import { offerSharedServer, type SharedServer, sharedServerUrl } from "../machine/servers/shared-server.ts";
import { startOwnBroker } from "./start-own-broker.ts";

const broker: SharedServer = {
  name: "RabbitMQ",
  urlVariable: "ROCKBOT_TEST_AMQP_URL",
  askAtVariable: "ROCKBOT_TEST_BROKER_ASK_AT",
  start: startOwnBroker,
};

/** Offers one RabbitMQ to all tests of a run: see offerSharedServer. */
export const offerSharedBroker = (): Promise<AsyncDisposable> => offerSharedServer(broker);

/**
 * The address of a RabbitMQ that tests share: `ROCKBOT_TEST_AMQP_URL`, or the one of this run. Tests must not harm it.
 * Await it at the top of a test file: the first to ask waits until the broker has started.
 * @throws {Error} that says in one line what to do, if there is no broker to be had
 */
export const sharedAmqpUrl = (): Promise<string> => sharedServerUrl(broker);
