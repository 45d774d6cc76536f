import { setTimeout as sleep } from "node:timers/promises";
import type { ToolDefinition, Validator } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { KillSwitch } from "../kills/kill-point.ts";

/** One tool of each kind: what a repeat of a call may do. */
export const toolKinds = ["read", "repeat", "effect"] as const;
export type ToolKind = (typeof toolKinds)[number];

export interface EffectInput {
  /** Given back, and written to the ledger. */
  readonly id: string;
  /** How long the tool takes after its effect. */
  readonly holdMs?: number;
  /** How long it keeps the whole process busy. */
  readonly blockMs?: number;
  /** What else it does to its process. */
  readonly fate?: "throws" | "dies";
}

export interface EffectToolsOptions {
  readonly killSwitch: KillSwitch;
  readonly onEffect: (id: string) => void;
  /** Called with each call that was aborted while it ran. */
  readonly onAborted: (id: string) => void;
}

/** `read`, `repeat` and `effect`: each notes that it has run, and gives back its id. */
export function effectTools({ killSwitch, onEffect, onAborted }: EffectToolsOptions): Tool[] {
  return toolKinds.map((kind) =>
    defineTool(definition(kind), async ({ id, holdMs = 0, blockMs = 0, fate }, { signal }) => {
      await killSwitch.reach("after claim");
      onEffect(id);
      await killSwitch.reach("after effect");
      if (fate === "throws") throw new Error("it fails, as the test wants");
      if (holdMs > 0) await sleep(holdMs, undefined, { signal }).catch(() => onAborted(id));
      if (fate === "dies") process.kill(process.pid, "SIGKILL");
      const until = performance.now() + blockMs;
      while (performance.now() < until); // nothing else runs in this process meanwhile
      return id;
    }),
  );
}

function definition(kind: ToolKind): ToolDefinition<EffectInput> {
  return {
    name: kind,
    description: `Notes that it has run, for tests: ${kind}.`,
    inputSchema: { type: "object" },
    readOnly: kind === "read",
    idempotent: kind !== "effect",
    validateInput: ((value: unknown) => typeof (value as { id?: unknown }).id === "string") as Validator<EffectInput>,
  };
}
