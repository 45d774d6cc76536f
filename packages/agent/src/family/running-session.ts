import { type AgentEvent, ToolError, ToolErrorCode, type TurnFinish } from "@rockbot/contracts";
import type { ModelUsage } from "@rockbot/llm";
import type { FamilySession, ToolCount } from "../words/family-session.ts";

export interface FamilySessionFacts extends Pick<FamilySession, "sessionId" | "turnId" | "agent" | "startedAt"> {
  /** What it has used by now. */
  readonly usage: () => ModelUsage;
}

/** Tools that a session keeps apart; the calls of further ones are counted together. */
const MAX_TOOLS = 64;
const OTHERS = "others";

/** A turn that runs in this process, as a part of its family. */
export class RunningSession {
  readonly #facts: FamilySessionFacts;
  /** What a process before has left of it. */
  readonly #before: FamilySession | undefined;
  readonly #calls = new Map<string, ToolCount>();
  readonly #children = new Map<string, RunningSession | FamilySession>();
  readonly #cancel = new AbortController();
  #end: Pick<FamilySession, "finish" | "endedAt"> | undefined;

  constructor(facts: FamilySessionFacts, before?: FamilySession) {
    this.#facts = facts;
    this.#before = before;
    for (const child of before?.children ?? []) this.#children.set(child.turnId, child);
    for (const call of before?.calls ?? []) this.#calls.set(call.tool, call);
  }

  /** Aborts once somebody cancels the session, with a ToolError. */
  get signal(): AbortSignal {
    return this.#cancel.signal;
  }

  /** A child that begins, or is taken up. */
  begin(facts: FamilySessionFacts): RunningSession {
    const known = this.#children.get(facts.turnId);
    const child = new RunningSession(facts, known instanceof RunningSession ? undefined : known);
    this.#children.set(facts.turnId, child);
    return child;
  }

  /** A child that has ended, here or in another process. */
  add(child: FamilySession): void {
    this.#children.set(child.turnId, child);
  }

  hear({ kind, toolName, isError, durationMs }: AgentEvent): void {
    if (kind !== "tool_finished" || toolName == null) return;
    const tool = this.#calls.has(toolName) || this.#calls.size < MAX_TOOLS ? toolName : OTHERS;
    const { count, failed, ms } = this.#calls.get(tool) ?? { count: 0, failed: 0, ms: 0 };
    this.#calls.set(tool, { tool, count: count + 1, failed: failed + (isError ? 1 : 0), ms: ms + (durationMs ?? 0) });
  }

  end({ finish }: { readonly finish: TurnFinish }): void {
    this.#end = { finish, endedAt: Date.now() };
  }

  /** Cancels this turn, or one below it. @returns whether it runs here */
  cancel(turnId: string): boolean {
    if (this.#end !== undefined) return false;
    if (turnId !== this.#facts.turnId)
      return [...this.#children.values()].some((child) => child instanceof RunningSession && child.cancel(turnId));
    this.#cancel.abort(new ToolError(ToolErrorCode.Cancelled, "The session was cancelled."));
    return true;
  }

  /** As it is now. */
  view(): FamilySession {
    const { usage, ...facts } = this.#facts;
    const isOver = this.#end !== undefined;
    const children = [...this.#children.values()].map((child): FamilySession => {
      if (child instanceof RunningSession) return child.view();
      return child.state === "running" && isOver ? { ...child, state: "lost" } : child;
    });
    const startedAt = this.#before?.startedAt ?? facts.startedAt;
    return {
      ...facts,
      startedAt,
      state: isOver ? "ended" : "running",
      ...this.#end,
      usage: usage(),
      calls: [...this.#calls.values()],
      children,
    };
  }
}

/** The ids of the turns that run, a parent's before its children's. */
export const runningTurns = ({ state, turnId, children }: FamilySession): readonly string[] => [
  ...(state === "running" ? [turnId] : []),
  ...children.flatMap(runningTurns),
];
