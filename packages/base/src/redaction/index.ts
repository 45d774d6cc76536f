export { createRedactor, REDACTED, type Redactor } from "./redactor.ts";
export { type ConsoleMethod, routeConsole } from "./route-console.ts";
export { redact, redactValue, registerSecret, registerUrlSecret } from "./secrets.ts";
