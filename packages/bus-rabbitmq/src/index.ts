// To rule a broker: its users, and what each may do.
export { type BrokerDefinitionsOptions, brokerDefinitions } from "./definitions/broker-definitions.ts";
export { type Access, type BrokerRights, brokerRights } from "./definitions/broker-rights.ts";
// To use it.
export { type ConnectBusOptions, connectBus } from "./rabbitmq-bus.ts";
