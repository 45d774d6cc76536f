import { pause } from "@rockbot/base";
import { newId } from "@rockbot/contracts";
import { must } from "../breach.ts";
import type { Case } from "../case.ts";
import { ANSWER_MS, mustBe, mustBeResult } from "../examiner.ts";

/** A cancel has come to the service before what is sent so much later. */
const AHEAD_MS = 300;

export const quickCancelCases: readonly Case[] = [
  {
    name: "a cancel that overtakes its call keeps it from running",
    clause: "cancel-before",
    async run(examiner) {
      const ahead = { toolCallId: newId(), caller: examiner.newCaller() };
      await examiner.cancel(ahead);
      await pause(AHEAD_MS);
      const call = await examiner.send(ahead);
      mustBe("cancelled", await call.reply(ANSWER_MS), "a call that was cancelled before it was made");
    },
  },
];

export const slowCancelCases: readonly Case[] = [
  {
    name: "a cancel ends a running call",
    clause: "cancel-running",
    async run(examiner) {
      const call = await examiner.begin();
      await examiner.cancel(call);
      const reply = await call.reply(examiner.patienceMs);
      mustBe("cancelled", reply, "a running call that was cancelled");
      must(
        reply.details["mayHaveRun"] === true,
        "the answer to a running call that was cancelled has no details.mayHaveRun true",
      );
    },
  },
  {
    name: "a cancel by another caller changes nothing",
    clause: "cancel-others",
    async run(examiner) {
      const call = await examiner.begin();
      await examiner.cancel({ toolCallId: call.toolCallId, caller: `${call.caller}-b` });
      mustBeResult(await call.reply(examiner.patienceMs), "a running call that another caller has cancelled");
    },
  },
];
