export { type ConnectBusOptions, connectBus } from "./rabbitmq-bus.ts";
