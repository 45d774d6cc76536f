import type { Decision } from "../decision.ts";
import { entries } from "../document/document-place.ts";
import { findGlob } from "../tool-glob.ts";
import { defineFacet } from "./facet.ts";

export const queues = defineFacet({
  place: "file",
  readBy: "decisions",
  schema: {
    type: "object",
    default: {},
    propertyNames: { pattern: "^[a-z0-9][a-z0-9-]{0,38}$" },
    additionalProperties: { $ref: "#/definitions/PolicyQueue" },
    description:
      "What tools share that bears only so many calls at once, such as a provider. A tool stands in the first queue that names it.",
  },
  definitions: {
    PolicyQueue: {
      type: "object",
      additionalProperties: false,
      required: ["tools", "concurrency"],
      properties: {
        tools: { $ref: "#/definitions/PolicyToolGlobs" },
        concurrency: {
          type: "integer",
          minimum: 1,
          maximum: 10_000,
          description: "Calls that run at once in one instance of a service.",
        },
        waiting: {
          type: "integer",
          minimum: 0,
          maximum: 10_000,
          default: 16,
          description: "Calls that wait for their turn at most; more are overloaded.",
        },
      },
    },
  },
  docs: [
    {
      holds: "calls of all callers that run at once in one instance; those that wait do so as for `rules.concurrency`",
      beyond: "`overloaded` with `retryAfterMs`",
    },
  ],
  example: { "search-provider": { tools: ["web_search"], concurrency: 4, waiting: 16 } },
  read({ document }) {
    const named = entries(document.queues);
    return {
      queueOf(tool: string): Decision["queue"] {
        const [name, queue] = named.find(([, { tools }]) => findGlob(tools, tool) !== undefined) ?? [];
        if (name === undefined || queue === undefined) return undefined;
        return { name, concurrency: queue.concurrency, waiting: queue.waiting };
      },
    };
  },
  explain({ queueOf }, { tool }, at) {
    const queue = queueOf(tool);
    if (queue === undefined) return [];
    return [
      `at most ${queue.concurrency} calls at once by all callers, ${queue.waiting} waiting, in one instance: ${at(["queues", queue.name])}`,
    ];
  },
});
