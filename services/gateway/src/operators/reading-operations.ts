import { count, flag, list as listOf, objectOf, text, time } from "./operation-schemas.ts";
import type { OperatorOperation } from "./operator-operation.ts";

const cursor = { ...text, description: "Of the page before." };
const list = (required: Record<string, object>, optional: Record<string, object> = {}): object =>
  listOf(objectOf(required, optional));

const isPartial = { ...flag, description: "Not all instances of the agent answered." };

const facts = [
  {
    key: text,
    length: count,
    storedAt: time,
    expiresAt: time,
    tags: { type: "array", items: text },
    isUntrusted: flag,
  },
  { category: text, origin: text },
] as const;

/** What the agent keeps for callers, for operators who speak for them and see transcripts or memory. */
export const readingOperations: readonly OperatorOperation[] = [
  {
    method: "get",
    path: "/operator/agents/{caller}/sessions",
    summary: "List the sessions of a caller in which a user has spoken, the newest first. Needs `transcripts`.",
    right: "read",
    query: { cursor },
    answer: objectOf(
      { sessions: list({ session: text, at: time, said: text, isUntrusted: flag }), isPartial },
      { cursor: text },
    ),
  },
  {
    method: "get",
    path: "/operator/agents/{caller}/transcript",
    summary: "Show what a session remembers, and what it led to in the last day. Needs `transcripts`.",
    right: "read",
    query: { session: text },
    answer: objectOf({
      messages: list(
        {
          role: { enum: ["user", "assistant", "system"] },
          at: time,
          text: { ...text, description: "At most 16 000 characters." },
          isCut: flag,
          length: count,
          isUntrusted: flag,
        },
        { origin: { enum: ["schedule", "helper", "agent"], description: "Who asked, if no user did." } },
      ),
      turns: list(
        {
          turn: text,
          session: text,
          depth: { ...count, description: "How many calls of agents led to it." },
          state: { enum: ["running", "ended", "lost"] },
          startedAt: time,
          calls: count,
          failed: count,
        },
        { agent: text, finish: text, endedAt: time },
      ),
      more: { ...count, description: "Turns that are left out." },
      isPartial,
    }),
  },
  {
    method: "get",
    path: "/operator/agents/{caller}/wisps",
    summary: "List the saved wisps that a caller may use. Needs `memory`.",
    right: "read",
    answer: objectOf({
      wisps: list({ name: text, version: count, description: text, isOwn: flag, isUntrusted: flag }),
      more: { ...count, description: "Wisps that are left out." },
      isPartial,
    }),
  },
  {
    method: "get",
    path: "/operator/agents/{caller}/memory",
    summary: "List the keys of a caller's working memory. Needs `memory`.",
    right: "read",
    query: { prefix: { ...text, description: "How the keys begin." }, cursor },
    answer: objectOf({ entries: list(...facts), isPartial }, { cursor: text }),
  },
  {
    method: "get",
    path: "/operator/agents/{caller}/memory/text",
    summary: "Show a text of working memory, 16 000 characters of it at a time. Needs `memory`.",
    right: "read",
    query: { key: text, offset: count },
    answer: objectOf(
      { ...facts[0], text, offset: count, isPartial },
      { ...facts[1], next: { ...count, description: "Where the next part begins." } },
    ),
  },
];
