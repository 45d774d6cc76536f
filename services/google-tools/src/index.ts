// To run the service.

export { configSchema } from "./generated/config.ts";
export { startGoogleTools } from "./google-tools.ts";
