import type { OperatorOperation } from "./operator-operation.ts";

const text = { type: "string" };
const service = { ...text, description: "Whose dead letters; of all services if left out of a list." };
const id = { ...text, maxLength: 255, description: "The message's id; of all messages if left out." };
const letters = { service, id };

/** What steers services: dead letters, and the definitions and servers of strangers. */
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
];
