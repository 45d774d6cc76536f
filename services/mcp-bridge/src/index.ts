// To run the service.
export { configSchema, type McpBridgeConfig } from "./generated/config.ts";
export {
  type BridgedServerHealth,
  type McpBridge,
  type StartMcpBridgeOptions,
  startMcpBridge,
} from "./mcp-bridge.ts";
