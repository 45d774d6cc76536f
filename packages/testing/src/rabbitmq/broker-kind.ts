import { existsSync } from "node:fs";
import { dockerAnswers, hasBrokerImage } from "./docker.ts";
import { canInstallRabbitMq, installRabbitMq } from "./install-rabbitmq.ts";
import { LOCAL_SERVER } from "./local-broker.ts";

export type BrokerKind = "container" | "local";

let decided: Promise<BrokerKind> | undefined;

/**
 * How this machine runs a RabbitMQ for tests: in a container if a Docker engine answers and has or gets the image; else
 * from an installed rabbitmq-server; else, on Debian as root, from one that is installed now. `ROCKBOT_TEST_BROKER`
 * (`container` or `local`) forces a kind.
 * @throws {Error} that says in one line what to do, if there is no way
 */
export function brokerKind(): Promise<BrokerKind> {
  decided ??= decide(process.env["ROCKBOT_TEST_BROKER"]);
  return decided;
}

async function decide(forced: string | undefined): Promise<BrokerKind> {
  if (forced !== undefined && forced !== "container" && forced !== "local") {
    throw new Error(`ROCKBOT_TEST_BROKER is "${forced}": expected "container" or "local"`);
  }
  if (forced !== "local" && (await dockerAnswers()) && (await hasBrokerImage())) return "container";
  if (forced === "container")
    throw new Error("No RabbitMQ for the tests: ROCKBOT_TEST_BROKER asks for a container, and no Docker engine with the image rabbitmq:4-management answers");
  if (!existsSync(LOCAL_SERVER)) {
    if (!canInstallRabbitMq()) {
      throw new Error("No RabbitMQ for the tests: start Docker, or install rabbitmq-server, or set ROCKBOT_TEST_AMQP_URL to a broker that tests may use");
    }
    await installRabbitMq();
  }
  return "local";
}
