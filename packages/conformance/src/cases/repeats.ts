import { must, NotTried } from "../breach.ts";
import type { Case } from "../case.ts";
import { ANSWER_MS, type Examiner, mustBe, mustBeResult, type SafeCall } from "../examiner.ts";
import { described } from "../exchange.ts";

/**
 * Cases on a request that comes twice, for a tool that gives another result each time: the results tell two runs apart.
 */
export const quickRepeatCases: readonly Case[] = [
  {
    name: "a call that has ended is not run again: its repeat gets the same answer",
    clause: "kept-reply",
    async run(examiner) {
      const { quick } = examiner.options;
      mustHaveEffects(examiner, quick);
      const [one, other] = await Promise.all([examiner.send(), examiner.send()]);
      const [first, second] = await Promise.all([one.reply(ANSWER_MS), other.reply(ANSWER_MS)]);
      if (first.content === second.content)
        throw new NotTried(
          `two calls of "${quick.tool}" have the same result: name a tool whose result differs each time`,
        );
      await examiner.sendAgain(one);
      const again = await one.reply(ANSWER_MS, 1);
      must(
        again.content === first.content,
        `the repeat of a call that had ended was answered with ${described(again)}; the first answer was ${described(first)}`,
      );
    },
  },
  {
    name: "an id that another call has is a conflict",
    clause: "conflict",
    async run(examiner) {
      mustHaveEffects(examiner, examiner.options.quick);
      const { slow } = examiner;
      const call = await examiner.send();
      mustBeResult(await call.reply(ANSWER_MS), call.what);
      const other = await examiner.send({ call: slow, toolCallId: call.toolCallId, caller: call.caller });
      const reply = await other.reply(examiner.patienceMs);
      mustBe("invalid_arguments", reply, "another call under the id of one that has ended");
      must(
        reply.details["reason"] === "conflict",
        `the answer says details.reason ${JSON.stringify(reply.details["reason"])}; expected "conflict"`,
      );
    },
  },
];

export const slowRepeatCases: readonly Case[] = [
  {
    name: "a repeat of a running call joins it",
    clause: "join",
    async run(examiner) {
      mustHaveEffects(examiner, examiner.slow);
      const call = await examiner.begin();
      await examiner.sendAgain(call, { call: examiner.slow });
      const first = await call.reply(examiner.patienceMs);
      mustBeResult(first, call.what);
      const second = await call.reply(examiner.patienceMs, 1);
      must(
        first.content === second.content,
        `a call and its repeat were answered with ${described(first)} and ${described(second)}: it ran twice`,
      );
    },
  },
];

function mustHaveEffects(examiner: Examiner, call: SafeCall): void {
  if (examiner.toolOf(call).readOnly)
    throw new NotTried(
      `"${call.tool}" is read-only, and may run as often as it is asked for: name a tool with effects`,
    );
}
