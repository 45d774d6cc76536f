// To use a broker.

export { type ConnectBusOptions, connectBus } from "./rabbitmq-bus.ts";

// To rule it: its users, and what each may do.

export { type BrokerDefinitionsOptions, brokerDefinitions } from "./definitions/broker-definitions.ts";
export { type Access, type BrokerRights, brokerRights } from "./definitions/broker-rights.ts";
export { ApplyRightsError, type ApplyRightsOptions, applyRights } from "./management/apply-rights.ts";
