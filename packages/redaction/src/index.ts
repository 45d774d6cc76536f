export { createRedactor, REDACTED, type Redactor } from "./redactor.ts";
export { redact, redactValue, registerSecret, registerUrlSecret } from "./secrets.ts";
