import type { PolicyMessages } from "../generated/policy.ts";
import { defineFacet } from "./facet.ts";

/** The messages that a process takes from one caller each second. */
export interface MessageFlow {
  readonly perSecond: number;
  readonly bytesPerSecond: number;
}

/** The kinds of messages that agents may publish, except probes. */
export type MessageKind = keyof PolicyMessages;

export type MessageLimits = Readonly<Record<MessageKind, MessageFlow>>;

/** More than honest callers send, and too little to cost others much. */
const DEFAULTS: MessageLimits = {
  invoke: { perSecond: 20_000, bytesPerSecond: 64 * 1024 * 1024 },
  cancel: { perSecond: 200, bytesPerSecond: 64 * 1024 },
  manage: { perSecond: 20, bytesPerSecond: 256 * 1024 },
  refresh: { perSecond: 2, bytesPerSecond: 4 * 1024 },
  progress: { perSecond: 500, bytesPerSecond: 1024 * 1024 },
};

const KINDS = Object.keys(DEFAULTS) as readonly MessageKind[];

export const messages = defineFacet({
  place: "limits",
  readBy: "decisions",
  schema: {
    type: "object",
    additionalProperties: false,
    description:
      "How many messages of each kind one process takes from the caller per second, and how many bytes. More are dropped and counted; 20 refused requests per second are still answered. Unused room is saved for 10 seconds. Defaults: invoke (scripts too) 20000 and 64 MiB; cancel 200 and 64 KiB; progress (from one service) 500 and 1 MiB. For requests about MCP servers (manage) 20 and 256 KiB, for their index (refresh) 2 and 4 KiB.",
    properties: Object.fromEntries(KINDS.map((kind) => [kind, { $ref: "#/definitions/PolicyFlow" }])),
  },
  definitions: {
    PolicyFlow: {
      type: "object",
      additionalProperties: false,
      properties: {
        perSecond: { type: "number", minimum: 0.1, maximum: 1_000_000, description: "Messages." },
        bytesPerSecond: {
          type: "number",
          minimum: 1000,
          maximum: 1_000_000_000_000,
          description: "Bytes of their bodies.",
        },
      },
    },
  },
  docs: [
    {
      holds:
        "what one process takes of each kind of message from a caller, before it reads it, in number and in bytes; holds without a file, too. Unused room is saved for 10 s.",
      beyond:
        "dropped and counted (`rockbot.tool.messages.dropped`); of requests, and of what is asked about MCP servers, 20 a second are answered with `rate_limited`",
    },
  ],
  example: { cancel: { perSecond: 50 } },
  read: ({ document: { everyone }, callers }) => ({
    /** The messages of each kind that a process takes from this caller: its own limits, then everyone's, one by one. */
    messagesOf(caller: string): MessageLimits {
      const own = callers.get(caller)?.limits.messages;
      const flow = (kind: MessageKind): MessageFlow => ({
        ...DEFAULTS[kind],
        ...everyone.limits.messages?.[kind],
        ...own?.[kind],
      });
      return Object.fromEntries(KINDS.map((kind) => [kind, flow(kind)])) as MessageLimits;
    },
  }),
  explain({ messagesOf }, { caller }) {
    const flows = Object.entries(messagesOf(caller)).map(
      ([kind, { perSecond, bytesPerSecond }]) => `${kind} ${perSecond} with ${sizeOf(bytesPerSecond)}`,
    );
    return [`messages that one process takes a second: ${flows.join(", ")}`];
  },
});

const KIB = 1024;
const MIB = KIB * KIB;

const sizeOf = (bytes: number): string =>
  bytes % MIB === 0 ? `${bytes / MIB} MiB` : bytes % KIB === 0 ? `${bytes / KIB} KiB` : `${bytes} bytes`;
