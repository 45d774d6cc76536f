// To run the service.

export { configSchema } from "./generated/config.ts";
export { startPageRenderer } from "./page-renderer.ts";
