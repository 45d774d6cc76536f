import type { ReactNode } from "react";
import type { Call } from "../api/types.ts";

export type Tone = "good" | "bad" | "warn" | "quiet";

export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) => (
  <span className={`badge ${tone === "quiet" ? "quiet" : `is-${tone}`}`}>{children}</span>
);

const OPEN: readonly Call["state"][] = ["asked", "accepted", "running"];

export function toneOf(call: Pick<Call, "state">): Tone {
  if (call.state === "answered") return "good";
  return OPEN.includes(call.state) ? "quiet" : call.state === "cancelled" ? "warn" : "bad";
}

/** A call's state; where it failed, the code instead, which says more. */
export const StateBadge = ({ call }: { readonly call: Pick<Call, "state" | "code"> }) => (
  <Badge tone={toneOf(call)}>{call.code ?? call.state.replace("_", " ")}</Badge>
);
