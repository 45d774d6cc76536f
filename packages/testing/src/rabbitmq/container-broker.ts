import { randomBytes } from "node:crypto";
import { startContainer } from "../machine/container.ts";
import { freePort } from "../machine/free-port.ts";
import { createControl } from "./control.ts";
import { importDefinitions } from "./import-definitions.ts";
import type { TestBroker } from "./test-broker.ts";
import { untilAmqpAnswers } from "./until-amqp-answers.ts";

export const BROKER_IMAGE = "rabbitmq:4-management";
const INSIDE_PORT = 5672;
const MANAGEMENT_PORT = 15672;
const METRICS_PORT = 15692;

/** A RabbitMQ in a container, on a port of 127.0.0.1 that it keeps over restarts. */
export async function startContainerBroker(): Promise<TestBroker> {
  const [port, managementPort] = [await freePort(), await freePort()];
  const password = randomBytes(12).toString("hex");
  const container = await startContainer({
    image: BROKER_IMAGE,
    ports: [
      { inside: INSIDE_PORT, outside: port },
      { inside: MANAGEMENT_PORT, outside: managementPort },
    ],
    env: {
      RABBITMQ_DEFAULT_USER: "test",
      RABBITMQ_DEFAULT_PASS: password,
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "+sbwt none",
    },
    untilReady: (explain) => untilAmqpAnswers(port, explain),
  });
  const { ctl, restarted } = createControl((...args) => container.exec({}, "rabbitmqctl", ...args));
  return {
    ...container,
    async restart() {
      await container.restart();
      restarted();
    },
    url: `amqp://test:${password}@127.0.0.1:${port}`,
    directUrl: async () => `amqp://test:${password}@${await container.address()}:${INSIDE_PORT}`,
    metricsAddress: async () => `${await container.address()}:${METRICS_PORT}`,
    managementUrl: async () => `http://test:${password}@${await container.address()}:${MANAGEMENT_PORT}`,
    ctl,
    importDefinitions: (definitions) =>
      importDefinitions(`http://test:${password}@127.0.0.1:${managementPort}`, definitions),
  };
}
