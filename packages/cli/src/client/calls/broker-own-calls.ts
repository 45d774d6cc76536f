import { errorReply, newId, ToolError } from "@rockbot/contracts";
import { runStanding } from "@rockbot/gateway";
import { type Run, RunState, type RunStore } from "@rockbot/runs";
import { connectRedisRunStore } from "@rockbot/runs/redis";
import { createToolCaller, replyOf } from "@rockbot/tools";
import { displayBusUrl } from "../../bus-url.ts";
import { CommandError } from "../../command-error.ts";
import { connectRuled } from "../../connect-broker.ts";
import { UsageError } from "../../usage-error.ts";
import type { OwnCall, OwnCalls } from "./own-calls.ts";

export interface BrokerOwnCallsOptions {
  readonly redisUrl: string;
  readonly policyFile: string | undefined;
  readonly requested: Promise<NodeJS.Signals>;
}

/** The calls of the broker's user that services keep in Redis. The bus says which services there are. */
export async function openBrokerOwnCalls(
  url: string,
  { redisUrl, policyFile, requested }: BrokerOwnCallsOptions,
): Promise<OwnCalls> {
  await using started = new AsyncDisposableStack();
  const runs = started.use(await openRuns(redisUrl));
  const { bus, policy, agent } = started.use(await connectRuled(url, "rockbot calls", policyFile, requested));
  const caller = started.use(
    await createToolCaller(bus, { agent, instance: newId().slice(0, 12), results: "copy", policy }),
  );
  await caller.discovered();
  const findRun = async (toolCallId: string): Promise<Run | undefined> => {
    const services = await caller.services();
    const found = await Promise.all(
      services.map(({ service }) => runs.read({ service, caller: caller.agent, toolCallId }).catch(rethrow)),
    );
    return found.find((stored) => stored !== undefined)?.run;
  };
  const parts = started.move();
  return {
    where: `the records of the services behind ${displayBusUrl(url)}, in Redis`,
    async find(toolCallId) {
      const run = await findRun(toolCallId);
      return run && described(run);
    },
    async cancel(toolCallId) {
      const run = await findRun(toolCallId);
      if (run === undefined || run.state === RunState.Ended)
        throw new CommandError(`Cannot cancel the call: ${run === undefined ? "it is not there" : "it has ended"}`);
      await caller.withdraw(run);
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function openRuns(redisUrl: string): Promise<RunStore> {
  return connectRedisRunStore(redisUrl).catch((error: unknown) => {
    if (error instanceof RangeError) throw new UsageError([`--redis: ${error.message}`]);
    return rethrow(error);
  });
}

function described(run: Run): OwnCall {
  const { toolCallId, toolName, progress } = run;
  const call = { toolCallId, toolName, progress, ...runStanding(run) };
  if (run.state !== RunState.Ended) return call;
  const end = replyOf(run);
  return end instanceof ToolError ? { ...call, error: errorReply(call, end) } : { ...call, result: end };
}

function rethrow(error: unknown): never {
  throw new CommandError(error instanceof Error ? error.message : String(error));
}
