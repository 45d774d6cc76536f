import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { AwakeClock } from "./awake-clock.ts";

/** Lets this process stand still, as one that is stopped or gets no processor time does. */
const standStill = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test("a wait ends after its time, not before, and not if it was called off", async () => {
  const clock = new AwakeClock();
  const start = performance.now();
  const ended: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  clock.after(150, resolve);
  clock.after(60, () => ended.push("short"));
  clock.after(60, () => ended.push("called off"))();
  await promise;
  expect(performance.now() - start).toBeGreaterThanOrEqual(150);
  expect(ended).toEqual(["short"]);
});

test("time in which the process stood still does not count", async () => {
  const clock = new AwakeClock();
  const { promise, resolve } = Promise.withResolvers<void>();
  clock.after(300, resolve);
  const before = clock.now;
  standStill(1_000);
  const wokeAt = performance.now();
  await promise;
  expect(performance.now() - wokeAt).toBeGreaterThan(150); // 125 of the 1 000 ms count, as of a step that came a little late
  expect(clock.now - before).toBeLessThan(600);
});

test("nor does it for a short wait beside a long one", async () => {
  const clock = new AwakeClock();
  const callOff = clock.after(60_000, () => {});
  const { promise, resolve } = Promise.withResolvers<void>();
  clock.after(500, resolve);
  standStill(1_500);
  const wokeAt = performance.now();
  await promise;
  callOff();
  expect(performance.now() - wokeAt).toBeGreaterThan(250); // 175 of the 1 500 ms count
});

test("what has come while the process stood still is read before its time is over", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  try {
    const [peer] = (await once(server, "connection")) as [Socket];
    const order: string[] = [];
    socket.once("data", () => order.push("read"));
    const { promise, resolve } = Promise.withResolvers<void>();
    new AwakeClock().after(1, () => {
      order.push("over");
      resolve();
    });
    peer.end("an answer"); // lies with the system from here on
    standStill(200);
    await promise;
    expect(order).toEqual(["read", "over"]);
  } finally {
    socket.destroy();
    server.close();
  }
});

test("a wait that comes later and is shorter ends first, and in time", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const clock = new AwakeClock();
  const callOff = clock.after(60_000, () => {});
  const start = performance.now();
  const ended: number[] = [];
  clock.after(80, () => ended.push(performance.now() - start));
  await vi.advanceTimersByTimeAsync(400); // its longest step is 500
  callOff();
  expect(ended.length).toBe(1);
  expect(ended[0]).toBeGreaterThanOrEqual(80);
});

test("it does not run while nobody waits", async () => {
  const clock = new AwakeClock();
  clock.after(10, () => {})();
  const before = clock.now;
  standStill(20);
  expect(clock.now).toBe(before);
});
