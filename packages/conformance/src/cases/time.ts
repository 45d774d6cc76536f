import { must } from "../breach.ts";
import type { Case } from "../case.ts";
import { mustBe } from "../examiner.ts";

/** Ends long before the slow call does. */
const BUDGET_MS = 500;

/** Cases on budgets without a slow call. */
export const quickTimeCases: readonly Case[] = [
  {
    name: "a call whose budget is over before it starts does not run",
    clause: "budget-over",
    async run(examiner) {
      const call = await examiner.send({ expirationMs: 0 });
      await call.until(() => call.replies.length > 0, 1_000); // no answer is fine, too
      const [reply] = call.replies;
      if (reply !== undefined) mustBe("timeout", reply, "a request with the expiration 0");
    },
  },
];

export const slowTimeCases: readonly Case[] = [
  {
    name: "a call that runs longer than its expiration is answered with timeout",
    clause: "budget-runs-out",
    async run(examiner) {
      const call = await examiner.send({ call: examiner.slow, expirationMs: BUDGET_MS });
      const reply = await call.reply(examiner.patienceMs);
      mustBe("timeout", reply, `a slow call with the expiration ${BUDGET_MS}`);
      must(reply.details["mayHaveRun"] === true, "the timeout of a call that ran has no details.mayHaveRun true");
    },
  },
  {
    name: "the header rb-rb-timeout-ms says the budget before the expiration does",
    clause: "budget",
    async run(examiner) {
      const call = await examiner.send({ call: examiner.slow, headers: { "rb-rb-timeout-ms": String(BUDGET_MS) } });
      mustBe(
        "timeout",
        await call.reply(examiner.patienceMs),
        `a slow call with the header rb-rb-timeout-ms ${BUDGET_MS}`,
      );
    },
  },
];
