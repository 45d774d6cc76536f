import { brokerKind } from "./broker-kind.ts";
import { startContainerBroker } from "./container-broker.ts";
import { startLocalBroker } from "./local-broker.ts";
import type { StartOwnBrokerOptions, TestBroker } from "./test-broker.ts";

/** Starts a RabbitMQ of the kind that this machine offers: see brokerKind. */
export async function startOwnBroker(options: StartOwnBrokerOptions = {}): Promise<TestBroker> {
  return (await brokerKind()) === "container" ? startContainerBroker() : startLocalBroker(options);
}
