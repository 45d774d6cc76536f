import { testBus } from "@rockbot/bus/conformance";
import { sharedAmqpUrl } from "@rockbot/testing";
import { connectBus } from "./rabbitmq-bus.ts";

const url = await sharedAmqpUrl();

testBus("RabbitMqBus", () => connectBus(url), { isDurable: true });
