import type { PolicyLimits, PolicyMessages } from "./generated/policy.ts";

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

export const messageKinds = Object.keys(DEFAULTS) as readonly MessageKind[];

/** The limits that hold for a caller: its own, then everyone's, one by one. */
export function messageLimits(everyone: PolicyLimits, own: PolicyLimits | undefined): MessageLimits {
  const flow = (kind: MessageKind): MessageFlow => ({
    ...DEFAULTS[kind],
    ...everyone.messages?.[kind],
    ...own?.messages?.[kind],
  });
  return {
    invoke: flow("invoke"),
    cancel: flow("cancel"),
    manage: flow("manage"),
    refresh: flow("refresh"),
    progress: flow("progress"),
  };
}
