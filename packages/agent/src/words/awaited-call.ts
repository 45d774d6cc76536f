import type { TurnRequest } from "./turn.ts";

/** A call that goes on without its turn, as it waits for a person. */
export interface AwaitedCall {
  readonly caller: string;
  /** The session that hears how it ends: the one that all of a family stem from. */
  readonly sessionId: string;
  /** The agent that was asked for by name. @default what the session is */
  readonly agent?: string | undefined;
  /** Who spoke in the turn. */
  readonly origin: NonNullable<TurnRequest["origin"]>;
  readonly callId: string;
  readonly tool: string;
  /** As they were sent. */
  readonly arguments: string;
  /** What bounds the turn about its end. */
  readonly grant: string | undefined;
  readonly hasReadUntrusted: boolean;
  /** What a person can do about it, in words that no model reads. */
  readonly notice: string;
}

/** See AgentOptions. */
export type AwaitEnd = (call: AwaitedCall) => Promise<void>;

/** What tools say in their progress when a call begins to wait. */
const AWAITS = /^awaiting (approval|an answer): (.+)$/;

/** The notice for people of a call that has begun to wait; undefined of other progress: a tool may name another call. */
export function noticeOf(message: string | undefined, callId: string): string | undefined {
  const [, what, id] = AWAITS.exec(message ?? "") ?? [];
  if (what === undefined || id !== callId) return undefined;
  return waitsNotice(id, what, what === "approval" ? `approve ${id}` : `answer ${id} JSON`);
}

export const waitsNotice = (id: string, what = "a person", command = `show ${id}`): string =>
  `waiting for ${what}: ${id}. An operator decides: rockbot approvals ${command}`;
