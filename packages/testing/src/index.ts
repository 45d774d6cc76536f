// A real RabbitMQ: one that tests share, or one's own to harm.
export { offerSharedBroker, sharedAmqpUrl } from "./rabbitmq/shared-broker.ts";
export { startOwnBroker } from "./rabbitmq/start-own-broker.ts";
export type { TestBroker } from "./rabbitmq/test-broker.ts";

// An OpenTelemetry collector.
export { type CollectedMetric, type CollectedRequest, type CollectedSpan, type OtlpCollector, startOtlpCollector } from "./otlp-collector.ts";
