import { expect, test } from "vitest";
import { ReplyOrder } from "./reply-order.ts";

/** Lets all that can go on go on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The places of messages, and which of them have their turn. */
function placesOf(order: ReplyOrder, ...sessions: readonly string[]) {
  const ready = new Set<number>();
  const places = sessions.map((session, index) => {
    const place = order.take("user", session);
    void place.before.then(() => ready.add(index));
    return place;
  });
  return {
    places,
    ready: async () => {
      await settled();
      return [...ready].toSorted();
    },
  };
}

test("a reply waits for all before it in its session, whichever of them is done with first", async () => {
  const { places, ready } = placesOf(new ReplyOrder(), "a", "a", "a");
  expect(await ready()).toEqual([0]);
  places[1]?.[Symbol.dispose]();
  expect(await ready()).toEqual([0]);
  places[0]?.[Symbol.dispose]();
  expect(await ready()).toEqual([0, 1, 2]);
});

test("replies of other sessions, and of other callers, do not wait", async () => {
  const order = new ReplyOrder();
  const { ready } = placesOf(order, "a", "b");
  expect(await ready()).toEqual([0, 1]);
  await order.take("another", "a").before;
});
