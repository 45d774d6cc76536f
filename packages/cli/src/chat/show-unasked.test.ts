import type { AgentEvent } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { showUnasked } from "./show-unasked.ts";

test("the answer of a turn that was not asked for here shows once the turn has ended, and no other", async () => {
  let written = "";
  const write = (text: string) => {
    written += text;
    return true;
  };
  const step = (turnId: string, kind: AgentEvent["kind"], text = "", at = "2999-01-01T00:00:00.000Z") =>
    ({ sessionId: "s", turnId, sequence: 1, at, kind, text }) as AgentEvent;
  async function* steps() {
    for (const turnId of ["mine", "later"])
      yield* [
        step(turnId, "turn_started"),
        step(turnId, "text", `the mail is ${turnId}`),
        step(turnId, "turn_finished"),
      ];
    yield* [step("old", "text", "said before", "2001-01-01T00:00:00.000Z"), step("cut", "text", "not ended")];
  }
  const isAsked = (turnId: string) => turnId === "mine";
  const { signal } = new AbortController();
  await showUnasked({ follow: async () => steps() }, "s", { isAsked, out: { write, isTTY: true } as never, signal });
  expect(written).toBe("\nthe mail is later\n> ");
});
