import { decideServerKind, type ServerKind } from "../machine/servers/server-kind.ts";
import { BROKER_IMAGE } from "./container-broker.ts";
import { LOCAL_SERVER } from "./local-broker.ts";

let decided: Promise<ServerKind> | undefined;

/** How this machine runs a RabbitMQ for tests; `ROCKBOT_TEST_BROKER` (`container` or `local`) forces a kind. */
export function brokerKind(): Promise<ServerKind> {
  decided ??= decideServerKind({
    name: "RabbitMQ",
    image: BROKER_IMAGE,
    program: LOCAL_SERVER,
    debianPackage: "rabbitmq-server",
    kindVariable: "ROCKBOT_TEST_BROKER",
    urlVariable: "ROCKBOT_TEST_AMQP_URL",
  });
  return decided;
}
