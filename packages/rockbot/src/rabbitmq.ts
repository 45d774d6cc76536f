// The bus over RabbitMQ.
export { type ConnectBusOptions, connectBus } from "@rockbot/bus-rabbitmq";
