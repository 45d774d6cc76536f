import { count, flag, list, objectOf, text, time } from "./operation-schemas.ts";
import type { OperatorOperation } from "./operator-operation.ts";

const service = { ...text, description: "Whose dead letters; of all services if left out of a list." };
const id = { ...text, maxLength: 255, description: "The message's id; of all messages if left out." };
const letters = { service, id };
const verdict = { enum: ["approve", "reject"] };
const waiting = objectOf(
  {
    id: text,
    service: text,
    caller: text,
    toolCallId: text,
    tool: text,
    kind: { enum: ["approval", "question"] },
    given: objectOf({ bytes: count }, { hash: text }),
    asked: list(objectOf({ by: list(text), needed: count })),
    decisions: list(objectOf({ operator: text, verdict, at: time }, { note: text })),
    createdAt: time,
    expiresAt: time,
    isKept: { ...flag, description: "It waits on when its caller has left." },
    hasReadUntrusted: { ...flag, description: "Untrusted content led to it." },
    mayDecide: { oneOf: [{ const: true }, { ...text, description: "Why not." }] },
  },
  {
    question: {
      ...objectOf({ hash: text, message: text, schema: { type: "object" } }, { origin: text, faults: text }),
      description:
        "What its tool asks a person. `origin` has asked, if it is no tool of ours. `faults` are those of the last answer.",
    },
    operator: { ...text, description: "Who made the call as its caller." },
    arguments: {
      ...text,
      description: "JSON, as it is approved, for operators who are asked about it, or see arguments.",
    },
    visible: { ...text, description: "The same with escapes for invisible characters, if there are any." },
    shown: { ...text, description: "Goes back with the decision." },
  },
);

const decided = objectOf({ state: { enum: ["parked", "ready", "running", "ended"] } });

/** What steers services: dead letters, calls that wait, and the definitions and servers of strangers. */
export const steeringOperations: readonly OperatorOperation[] = [
  {
    method: "post",
    path: "/operator/dlq/list",
    summary: "List dead letters. This and what follows of them is answered by server-sent events.",
    right: "letters",
    query: { service, limit: { type: "integer", minimum: 1, maximum: 10_000, default: 100 } },
  },
  { method: "post", path: "/operator/dlq/show", summary: "Show one dead letter.", right: "letters", query: letters },
  {
    method: "post",
    path: "/operator/dlq/replay",
    summary: "Send dead letters again.",
    right: "letters",
    query: { ...letters, timeout: { type: "integer", minimum: 1, description: "Milliseconds for each." } },
  },
  { method: "post", path: "/operator/dlq/purge", summary: "Remove dead letters.", right: "letters", query: letters },
  {
    method: "get",
    path: "/operator/mcp/approvals",
    summary: "Show the tools and servers that wait for an operator, and how servers, documents and agents stand.",
    right: "servers",
  },
  {
    method: "post",
    path: "/operator/mcp/approvals",
    summary: "Approve some of them, exactly as they were shown, perhaps with a `note`.",
    right: "servers",
  },
  { method: "get", path: "/operator/mcp/rejections", summary: "Show what is rejected.", right: "servers" },
  {
    method: "post",
    path: "/operator/mcp/rejections",
    summary: "Reject some of what waits, exactly as it was shown, perhaps with a `note`.",
    right: "servers",
  },
  { method: "get", path: "/operator/mcp/registrations", summary: "Show the servers of agents.", right: "servers" },
  { method: "post", path: "/operator/mcp/removals", summary: "Take servers of agents away.", right: "servers" },
  {
    method: "get",
    path: "/operator/waiting",
    summary: "List the calls that wait for operators, the oldest first.",
    right: "decide",
    query: { brief: { ...flag, description: "Leave arguments out." } },
    answer: objectOf({ calls: list(waiting), more: flag, problems: list(text), needsCode: flag }),
  },
  { method: "get", path: "/operator/waiting/{id}", summary: "Show one of them.", right: "decide", answer: waiting },
  {
    method: "post",
    path: "/operator/waiting/{id}",
    summary:
      "Approve or reject it: `verdict`, `shown` as GET gave it, perhaps a `note`, and the `code` of `rockbot up`.",
    right: "decide",
    answer: decided,
  },
  {
    method: "post",
    path: "/operator/waiting/{id}/answer",
    summary: "Answer the question of its tool: `hash` as GET gave it, the `value`, and the `code` of `rockbot up`.",
    right: "decide",
    answer: decided,
  },
];
