import { CallState, OPEN } from "@rockbot/records/journal";
import { count, list, objectOf, text, time } from "./operation-schemas.ts";
import { OperatorRight, OperatorSight } from "./operator.ts";
import type { OperatorOperation } from "./operator-operation.ts";
import { readingOperations } from "./reading-operations.ts";
import { steeringOperations } from "./steering-operations.ts";

const orNull = (schema: object): object => ({ oneOf: [schema, { type: "null" }] });
const known = { type: ["integer", "null"], minimum: 0, description: "Null if nothing is known." };
const duration = { type: ["number", "null"], description: "Milliseconds; null if no call ended." };

const me = objectOf(
  {
    operator: objectOf({
      name: text,
      may: list({ enum: Object.values(OperatorRight) }),
      speaksFor: list(text),
      sees: list({ enum: Object.values(OperatorSight) }),
    }),
    callers: list(text),
    version: text,
  },
  { endsAt: time },
);
const digest = {
  ...objectOf({ bytes: count }, { hash: text }),
  description: "Stands for the arguments, or the result. Equal texts have equal hashes in the life of a process.",
};
const call = objectOf(
  {
    toolCallId: text,
    toolName: text,
    caller: text,
    state: { enum: Object.values(CallState) },
    attempts: count,
    deadlineAt: time,
    steps: list(objectOf({ step: text, at: time })),
  },
  {
    onBehalfOf: text,
    parent: text,
    session: text,
    service: text,
    layer: { ...text, description: "What refused it, or answered in the tool's place, as the service says." },
    isRedelivered: { type: "boolean" },
    lane: { type: "string", enum: ["fast", "fast_then_durable"] },
    given: digest,
    gave: digest,
    code: text,
    reason: text,
    policy: text,
    run: {
      ...objectOf(
        { state: { enum: [...Object.values(CallState), "waiting", "ready"] } },
        { code: text, waitsFor: text },
      ),
      description: "How it stands, if it was left to wait for people, or to run detached.",
    },
  },
);
const calls = objectOf({
  perSecond: { type: "number", description: "In the last minute, as are the durations." },
  p50: duration,
  p95: duration,
  ended: { ...count, description: "In the last hour, as are failures." },
  failed: count,
  codes: { type: "object", additionalProperties: count },
  inFlight: count,
  oldestMs: { ...count, description: "Age of the oldest call that an instance has and has not started." },
});
const keptText = objectOf(
  { state: { enum: ["kept", "not-kept", "not-seen"] } },
  { text, isCut: { type: "boolean" }, isRedacted: { type: "boolean" }, until: time },
);
const overview = objectOf(
  {
    at: time,
    version: text,
    bus: objectOf({ isReady: { type: "boolean" } }),
    policy: { oneOf: [objectOf({ revision: text }), { type: "null" }] },
    problems: list(
      objectOf(
        { level: { enum: ["error", "warning"] }, what: text, next: text },
        { page: { enum: ["letters", "servers", "waiting"], description: "Where the console has it." } },
      ),
    ),
    waiting: known,
    services: list(
      objectOf(
        {
          name: text,
          instances: count,
          tools: count,
          state: { enum: ["ready", "gone", "unusable"] },
          versions: list(text),
          backlog: known,
          calls: orNull(calls),
        },
        { reason: text },
      ),
    ),
    calls: orNull(calls),
    minutes: list(objectOf({ at: time, ended: known, failed: known, p50: duration, p95: duration })),
  },
  { servers: list({ type: "object" }) },
);
const trust = { enum: ["system", "untrusted"] };
const tool = objectOf(
  {
    name: text,
    description: text,
    inputSchema: { type: "object" },
    service: text,
    readOnly: { type: "boolean" },
    dangerous: { type: "boolean" },
    trust,
  },
  { outputSchema: { type: "object" } },
);
const policyUse = objectOf({
  caller: { ...text, description: "Empty for all that the policy does not name." },
  tool: text,
  isAllowed: { type: "boolean" },
  because: text,
  isDangerous: { type: "boolean" },
  bounds: list(text),
});
const verdict = { enum: ["allowed", "denied", "unknown"] };
const whatIf = objectOf({
  inForce: text,
  proposed: text,
  notes: list(text),
  calls: count,
  since: { type: ["integer", "null"], description: "Unix milliseconds." },
  rows: list(
    objectOf({
      caller: text,
      tool: text,
      inForce: verdict,
      tried: verdict,
      because: text,
      calls: count,
      newest: objectOf({ toolCallId: text, at: time }),
    }),
  ),
  more: count,
});
const auditLines = objectOf(
  {
    lines: list(
      objectOf({
        service: { ...text, description: "Which service told of it." },
        log: { ...text, description: "The id of the log's chain." },
        seq: count,
        time: text,
        hash: text,
        fields: { type: "object", description: "As they stand in the line. Strangers chose some of the texts." },
      }),
    ),
    more: { type: "boolean" },
    hasHashes: { type: "boolean", description: "False if hashes of arguments are left out for this operator." },
    problems: list({ ...text, description: "Which logs are missing in this, and why." }),
  },
  { cursor: text },
);
const auditLogs = objectOf({
  logs: list(
    objectOf(
      {
        services: list(text),
        log: text,
        host: text,
        file: text,
        faults: list(objectOf({ after: count, message: text, unreadable: count })),
        furtherFaults: count,
      },
      {
        first: objectOf({ seq: count, time: text }),
        last: objectOf({ seq: count, time: text, hash: text }),
        checked: {
          ...objectOf({ from: count, to: count }),
          description: "The numbers of the lines that were checked.",
        },
      },
    ),
  ),
  problems: list(text),
});
const part = { type: "string", maxLength: 256, description: "A part of it, in any case." };

/** What operators reach at each gateway, by a token or by a session of the console. */
export const operatorOperations: readonly OperatorOperation[] = [
  { method: "get", path: "/operator/me", summary: "Say who asks, and what it may do.", right: "any", answer: me },
  { method: "get", path: "/operator/openapi.json", summary: "Describe these requests in OpenAPI.", right: "any" },
  {
    method: "get",
    path: "/operator/overview",
    summary: "Say what is wrong, and show the services and the calls of the last hour.",
    right: "read",
    answer: overview,
  },
  {
    method: "get",
    path: "/operator/stream",
    summary: "Send the overview each second, as events, until the token or the session ends.",
    right: "read",
  },
  {
    method: "get",
    path: "/operator/history",
    summary: "Show the calls of the last day, a value for each minute, oldest first.",
    right: "read",
    query: { service: { ...text, description: "All services unless given." } },
    answer: objectOf({ from: time, ended: list(known), failed: list(known), p50: list(duration), p95: list(duration) }),
  },
  {
    method: "get",
    path: "/operator/calls",
    summary: "List calls, the newest first.",
    right: "read",
    query: {
      limit: { type: "integer", minimum: 1, maximum: 1000, default: 100 },
      caller: part,
      tool: part,
      code: part,
      state: { enum: [...Object.values(CallState), OPEN], description: "`open`: without an end yet." },
      session: text,
      parent: { ...text, description: "The call of the tool that made them." },
      id: { ...text, maxLength: 256, description: "The beginning of the id." },
      before: time,
      after: time,
      cursor: { ...text, description: "Of the page before." },
    },
    answer: objectOf(
      { calls: list(call), more: { type: "boolean" }, isPartial: { type: "boolean" } },
      { cursor: text },
    ),
  },
  {
    method: "get",
    path: "/operator/calls/{toolCallId}",
    summary: "Show one call, and those that it led to.",
    right: "read",
    answer: objectOf({
      call: { oneOf: [call, { type: "null" }] },
      inner: list(call),
      isWhole: { type: "boolean" },
    }),
  },
  {
    method: "get",
    path: "/operator/calls/{toolCallId}/kept",
    summary: "Show what a call was given and what it gave, as far as the policy keeps it and the operator sees it.",
    right: "read",
    answer: objectOf({ arguments: keptText, result: keptText }),
  },
  {
    method: "post",
    path: "/operator/calls/{toolCallId}/cancel",
    summary: "Cancel a call, whoever made it.",
    right: "cancel",
  },
  {
    method: "get",
    path: "/operator/tools",
    summary: "List every tool that this gateway knows.",
    right: "read",
    answer: objectOf({ tools: list(tool) }),
  },
  {
    method: "get",
    path: "/operator/tools/{name}/guides",
    summary: "Show the documents that teach a tool.",
    right: "read",
    answer: objectOf({ guides: list(objectOf({ name: text, summary: text, document: text, trust })) }),
  },
  {
    method: "post",
    path: "/operator/tools/{name}/invoke",
    summary: "Call a tool as a caller that the operator speaks for, as POST /v1/tools/{name}/invoke does.",
    right: "call",
    query: { as: { ...text, description: "The caller; the gateway's own agent if left out." } },
  },
  {
    method: "post",
    path: "/operator/calls/{toolCallId}/again",
    summary: "Make a call again, as its caller, with its arguments if they were kept and the operator sees them.",
    right: "call",
  },
  {
    method: "post",
    path: "/operator/chat/completions",
    summary: "Ask the agent as a caller that the operator speaks for, as POST /v1/chat/completions does.",
    right: "call",
    query: {
      as: { ...text, description: "The caller; the gateway's own agent if left out." },
      agent: {
        ...text,
        description: "The robot that answers this message; the agent itself if left out.",
      },
    },
  },
  {
    method: "get",
    path: "/operator/policy",
    summary:
      "Say what the policy in force says of a caller and a tool, of all tools of a caller, or of all callers of a tool.",
    right: "read",
    query: { caller: text, tool: text },
    answer: objectOf(
      { revision: text, callers: list(text) },
      { uses: list(policyUse), more: count, explanation: list(text) },
    ),
  },
  {
    method: "post",
    path: "/operator/policy/what-if",
    summary: "Try another policy against the calls that were made. Its text is the body; nothing changes by it.",
    right: "read",
    answer: whatIf,
  },
  ...readingOperations,
  {
    method: "get",
    path: "/operator/audit",
    summary: "Search the audit logs of all services, the newest lines first.",
    right: "read",
    query: {
      limit: { type: "integer", minimum: 1, maximum: 200, default: 100 },
      caller: part,
      tool: part,
      operator: part,
      before: time,
      after: time,
      cursor: { ...text, description: "Of the page before." },
    },
    answer: auditLines,
  },
  {
    method: "get",
    path: "/operator/audit/state",
    summary: "Show the audit logs of all services, and check the newest part of their chains.",
    right: "read",
    answer: auditLogs,
  },
  ...steeringOperations,
];

/** The OpenAPI document of what operators reach at each gateway. */
export function operatorApiDocument(version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, summary, right, query = {}, answer } of operatorOperations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: "path",
      required: true,
      schema: text,
    }));
    const asked = Object.entries(query).map(([name, schema]) => ({ name, in: "query", schema }));
    const content = answer === undefined ? {} : { content: { "application/json": { schema: answer } } };
    const fault = {
      description: "The request was refused.",
      content: { "application/json": { schema: objectOf({ message: text }) } },
    };
    paths[path] = {
      ...paths[path],
      [method]: {
        summary,
        "x-right": right,
        parameters: [...named, ...asked],
        responses: {
          [answer === undefined && path.endsWith("cancel") ? 204 : 200]: { description: "OK", ...content },
          default: fault,
        },
      },
    };
  }
  return {
    openapi: "3.1.0",
    info: { title: "RockBot for operators", version },
    security: [{ token: [] }],
    components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
    paths,
  };
}
