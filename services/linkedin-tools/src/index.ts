// To run the service.

export { configSchema } from "./generated/config.ts";
export { startLinkedinTools } from "./linkedin-tools.ts";
