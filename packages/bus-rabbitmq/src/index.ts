export { connectBus, type ConnectBusOptions } from "./rabbitmq-bus.ts";
