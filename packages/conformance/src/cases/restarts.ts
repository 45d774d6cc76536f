import { pause } from "@rockbot/base";
import { Breach, must, NotTried } from "../breach.ts";
import type { Case } from "../case.ts";
import { ANSWER_MS, type Examiner, mustBe, mustBeResult, type ServiceProcess, START_MS } from "../examiner.ts";
import { described, type Exchange } from "../exchange.ts";

const EXPIRED_MS = 300;
/** The broker has so long to see that a process is gone. */
const GONE_MS = 10_000;

/** Cases on calls when the service dies, starts, and stops: in this order. */
// Long because: the cases are listed side by side, and one tells the next what it has left behind
export function restartCases(): readonly Case[] {
  let cut: Exchange | undefined;
  let late: Exchange | undefined;
  let parkedBefore = 0;
  return [
    {
      name: "a request whose service dies while it runs is not acknowledged",
      clause: "acknowledge",
      async run(examiner) {
        const service = processOf(examiner);
        parkedBefore = (await examiner.look("parked"))?.messages ?? 0;
        const call = await examiner.begin({ expirationMs: 60_000 });
        await service.kill();
        const isBack = await examiner.until(async () => ((await examiner.look())?.messages ?? 0) > 0, GONE_MS);
        late = await examiner.send({ expirationMs: EXPIRED_MS });
        must(
          isBack,
          `the service was killed while it ran a call, and the request is not in its queue again after ${GONE_MS} ms: it was acknowledged before its answer`,
        );
        cut = call;
      },
    },
    {
      name: "a call that was cut off is answered after a restart, and not run again if it has effects",
      clause: "outcome-unknown",
      async run(examiner) {
        const service = processOf(examiner);
        await pause(EXPIRED_MS);
        await service.start();
        must(await examiner.isConsumed(START_MS), `the service takes no requests ${START_MS} ms after its start`);
        if (cut === undefined) throw new NotTried("no call was cut off: its request was acknowledged early");
        const reply = await cut.reply(examiner.patienceMs);
        const { readOnly, idempotent } = examiner.toolOf(examiner.slow);
        if (readOnly || idempotent) return mustBeResult(reply, "a call that was cut off, and may run twice,");
        mustBe("outcome_unknown", reply, "a call with effects that was cut off");
        must(
          reply.details["mayHaveRun"] === true,
          "the outcome_unknown of a call that was cut off has no details.mayHaveRun true",
        );
      },
    },
    {
      name: "a request that expired in its queue is neither run nor answered, but parked",
      clause: "expired",
      async run(examiner) {
        if (late === undefined) throw new NotTried("no request could expire");
        const isParked = await examiner.until(
          async () => ((await examiner.look("parked"))?.messages ?? 0) > parkedBefore,
          ANSWER_MS,
        );
        const [reply] = late.replies;
        if (reply !== undefined)
          throw new Breach(`a request that expired in its queue was answered with ${described(reply)}`);
        must(isParked, `a request that expired in its queue was not parked within ${ANSWER_MS} ms`);
      },
    },
    {
      name: "a service that is asked to stop says so, finishes what runs, and leaves",
      clause: "stop",
      async run(examiner) {
        const service = processOf(examiner);
        const before = (await examiner.look())?.consumers ?? 0;
        const call = await examiner.begin();
        const stopping = service.stop();
        mustBeResult(await call.reply(examiner.patienceMs), "a call that ran when the service was asked to stop");
        const code = await stopping;
        must(code === undefined || code === 0, `the service ended with the exit code ${code}; expected 0`);
        const isLeaving = () => examiner.hearing.heartbeats.some(({ value }) => value.isLeaving === true);
        must(await examiner.until(isLeaving, ANSWER_MS), "the service left without a heartbeat that says isLeaving");
        const hasLeft = await examiner.until(async () => ((await examiner.look())?.consumers ?? 0) < before, GONE_MS);
        must(hasLeft, "the service still consumes its requests after its end");
      },
    },
  ];
}

function processOf({ options }: Examiner): ServiceProcess {
  if (options.process === undefined)
    throw new NotTried("it kills and starts the service: --command says how to start it");
  return options.process;
}
