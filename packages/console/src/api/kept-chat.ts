import type { Turn } from "./chat.ts";

/** A conversation with the agent, as this tab keeps it. */
export interface KeptChat {
  /** The agent's session of it. */
  readonly session: string;
  readonly turns: readonly Turn[];
}

/** All that is kept begins so. */
const PREFIX = "rb-chat ";
/** One conversation has at most so many characters there; browsers give about five million to all. */
const MAX_CHARS = 500_000;

const nameOf = (operator: string, as: string): string => `${PREFIX}${operator} ${as}`;

/** Keeps the newest turns that fit, so that they are there after a reload. */
export function keepChat(operator: string, as: string, { session, turns }: KeptChat): void {
  const texts = turns.map((turn) => JSON.stringify(turn));
  let length = 0;
  const from = texts.findLastIndex((text) => {
    length += text.length;
    return length > MAX_CHARS;
  });
  try {
    sessionStorage.setItem(nameOf(operator, as), JSON.stringify({ session, turns: turns.slice(from + 1) }));
  } catch {
    sessionStorage.removeItem(nameOf(operator, as)); // there is no room: a reload then begins anew
  }
}

/** What was kept before a reload. A turn that ran then has ended with its page. */
export function keptChat(operator: string, as: string): KeptChat | undefined {
  const text = sessionStorage.getItem(nameOf(operator, as));
  if (text === null) return undefined;
  const { session, turns } = JSON.parse(text) as KeptChat; // this page wrote it
  const message = "The page was loaded anew while this turn ran, so it was cancelled.";
  return { session, turns: turns.map((turn) => ({ ...turn, end: turn.end ?? { kind: "error", message } })) };
}

export function forgetChats(): void {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
}
