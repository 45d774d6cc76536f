import type { Bus, Handler, Logger } from "@rockbot/bus";
import { isName, taskTopics } from "@rockbot/contracts";
import { instanceNames, METERED, underFreeName } from "@rockbot/tools";

/** The place to which agents on the bus send the answers of one instance. */
export interface AnswerPlace extends AsyncDisposable {
  readonly topic: string;
}

/**
 * Hears the answers for one instance, on a topic of its own. Its queue stays for ten minutes while the connection is
 * away, and keeps what comes meanwhile. Where senders are verified the broker knows the names of so many instances. One
 * that finds all of them taken hears on the topic of all instances, and loses what comes while the connection is away.
 * So does a user whose name no queue can have.
 */
export async function hearAnswers(bus: Bus, source: string, handler: Handler, log: Logger): Promise<AnswerPlace> {
  const shared = `${taskTopics.response}.${source}`;
  const subscriptionOf = (instance: string): string => `result.tasks.${source}.${instance}`;
  const own = await underFreeName(bus, isName(source) ? instanceNames(bus) : [], {
    subscriptionOf,
    async open(instance) {
      const topic = `${shared}.${instance}`;
      return placeAt(
        topic,
        await bus.subscribe({ name: subscriptionOf(instance), topics: [topic], kind: "result", ...METERED }, handler),
      );
    },
  });
  if (own !== undefined) return own;
  log.warn(
    { source },
    "this instance has no queue of its own for answers to tasks, and misses those that come while its connection is lost",
  );
  return placeAt(
    shared,
    await bus.subscribe({ name: "bus-answers", topics: [shared], kind: "copy", ...METERED }, handler),
  );
}

const placeAt = (topic: string, subscription: AsyncDisposable): AnswerPlace => ({
  topic,
  [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
});
