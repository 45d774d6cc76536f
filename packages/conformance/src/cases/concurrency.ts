import { must } from "../breach.ts";
import type { Case } from "../case.ts";
import { ANSWER_MS, mustBeResult } from "../examiner.ts";

/** Measures the slow call, too: the cases after it go by that. */
export const concurrencyCase: Case = {
  name: "a slow call does not hold up a quick one",
  clause: "concurrency",
  async run(examiner) {
    const from = performance.now();
    const slow = await examiner.begin();
    const quick = await examiner.send();
    mustBeResult(await quick.reply(examiner.patienceMs), quick.what);
    const wasSlowOut = slow.replies.length === 0;
    const reply = await slow.reply(examiner.patienceMs);
    mustBeResult(reply, slow.what);
    examiner.slowMs = Math.round(reply.message.receivedAt - from);
    void examiner.slow; // is it slow enough to tell?
    must(
      wasSlowOut,
      `a quick call was answered after the slow one that was made before it, which took ${examiner.slowMs} ms (a quick one has ${ANSWER_MS} ms)`,
    );
  },
};
