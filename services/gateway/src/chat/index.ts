// To ask the agent by another way than HTTP: loads no server.

export { SessionHub } from "../sessions/session-hub.ts";
export { withoutNulls } from "../sessions/without-nulls.ts";
export { AGAIN, AnswerText } from "./answer-text.ts";
export { noAgent } from "./no-agent.ts";
