import { expect, test } from "vitest";
import { approve, readWaiting } from "../operators/approvals.ts";
import { readRegistered, readRejected, reject, removeServers } from "../operators/withdrawals.ts";
import { createMemoryTrustStore } from "../store/memory-trust-store.ts";
import { ASKED_KEPT_MS, MAX_ASKED_PER_AGENT, Registrations } from "./registrations.ts";
import type { RequestedServer } from "./requested-server.ts";

const program = (name: string, ...args: readonly string[]): RequestedServer => ({
  name,
  address: { kind: "command", command: "/usr/bin/weather", args, env: {} },
});
const limits = { agent: "one", by: "the catalogue", maxPerAgent: 2 };

test("an operator approves exactly what is shown, for the agent that asked, once", async () => {
  const store = createMemoryTrustStore();
  const registrations = new Registrations(store);
  const request = program("weather", "--fast");
  expect(await registrations.ask(request, "one")).toBe("new");
  expect(await registrations.ask(request, "one")).toBe("waiting");
  const { servers } = await readWaiting(store);
  expect(servers).toMatchObject([
    {
      server: "weather",
      agent: "one",
      lines: [
        'command: "/usr/bin/weather"',
        'arguments: ["--fast"]',
        "environment: nothing beside PATH, HOME and the like",
      ],
    },
  ]);
  expect(await registrations.approvalOf(request, "one")).toBeUndefined();
  expect(
    await approve(store, { tools: [], servers: [...servers, { server: "weather", digest: "another" }] }, "ada"),
  ).toEqual({
    approved: ["weather"],
    stale: ["weather"],
  });
  expect(await registrations.approvalOf(request, "one")).toBe("ada");
  expect(await registrations.approvalOf(request, "two")).toBeUndefined();
  expect(await registrations.approvalOf(program("weather", "--fast", "-e"), "one")).toBeUndefined();
  expect(await registrations.register(request, { ...limits, by: "ada" })).toBe("registered");
  expect(await registrations.approvalOf(request, "one")).toBeUndefined();
  expect(await registrations.read()).toMatchObject({ asked: [], registered: [{ agent: "one", by: "ada" }] });
});

test("a request is over after a day, and so is an approval", async () => {
  let now = Date.parse("2026-01-01");
  const clock = () => new Date(now);
  const store = createMemoryTrustStore();
  const registrations = new Registrations(store, clock);
  await registrations.ask(program("a"), "one");
  const { servers } = await readWaiting(store, clock);
  await registrations.approve(servers[0]?.digest ?? "", "ada");
  now += ASKED_KEPT_MS;
  expect(await registrations.approvalOf(program("a"), "one")).toBeUndefined();
  expect(await registrations.approve(servers[0]?.digest ?? "", "ada")).toBe(false);
});

test("what an operator has rejected waits no more, and the agent that asked may not have it for a day", async () => {
  let now = Date.parse("2026-01-01");
  const clock = () => new Date(now);
  const store = createMemoryTrustStore();
  const registrations = new Registrations(store, clock);
  for (const agent of ["one", "two"]) await registrations.ask(program(agent), agent);
  const { servers } = await readWaiting(store, clock);
  const shown = servers.filter(({ agent }) => agent === "one");
  expect(
    await reject(store, { tools: [], servers: [...shown, { server: "gone", digest: "another" }] }, "ada", clock),
  ).toEqual({
    done: ["one"],
    stale: ["gone"],
  });
  expect((await readWaiting(store, clock)).servers.map(({ server }) => server)).toEqual(["two"]);
  expect((await readRejected(store, clock)).servers).toMatchObject([
    { server: "one", agent: "one", rejectedBy: "ada" },
  ]);
  expect(await approve(store, { tools: [], servers: shown }, "bob", clock)).toEqual({ approved: [], stale: ["one"] });
  expect(await reject(store, { tools: [], servers: shown }, "bob", clock)).toEqual({ done: [], stale: ["one"] });
  expect([
    await registrations.isRejected(program("one"), "one"),
    await registrations.isRejected(program("two"), "two"),
  ]).toEqual([true, false]);
  now += ASKED_KEPT_MS;
  expect([await registrations.isRejected(program("one"), "one"), (await readRejected(store, clock)).servers]).toEqual([
    false,
    [],
  ]);
});

test("an approval of what was rejected can be withdrawn, and what was taken away can be given back", async () => {
  const store = createMemoryTrustStore();
  const registrations = new Registrations(store);
  await registrations.register(program("weather"), limits);
  await removeServers(store, await readRegistered(store), "ada");
  const rejected = (await readRejected(store)).servers;
  expect(await approve(store, { tools: [], servers: rejected }, "bob")).toEqual({ approved: ["weather"], stale: [] });
  expect(await reject(store, { tools: [], servers: rejected }, "eve")).toEqual({ done: ["weather"], stale: [] });
  expect(await registrations.isRejected(program("weather"), "one")).toBe(true);
  expect(await approve(store, { tools: [], servers: rejected }, "bob")).toEqual({ approved: [], stale: ["weather"] }); // shown as rejected by another
  expect(await approve(store, { tools: [], servers: (await readRejected(store)).servers }, "bob")).toEqual({
    approved: ["weather"],
    stale: [],
  });
  expect(await registrations.register(program("weather"), limits)).toBe("registered");
});

test("an approval that is not used yet can be withdrawn", async () => {
  const store = createMemoryTrustStore();
  const registrations = new Registrations(store);
  await registrations.ask(program("weather"), "one");
  const { servers } = await readWaiting(store);
  await approve(store, { tools: [], servers }, "ada");
  expect(await reject(store, { tools: [], servers }, "ada")).toEqual({ done: ["weather"], stale: [] });
  expect(await registrations.approvalOf(program("weather"), "one")).toBeUndefined();
});

test("an operator takes away exactly the server that was shown, and its agent may not have it again for a day", async () => {
  const store = createMemoryTrustStore();
  const registrations = new Registrations(store);
  await registrations.register(program("weather"), limits);
  const shown = await readRegistered(store);
  expect(shown).toMatchObject([
    {
      server: "weather",
      agent: "one",
      by: "the catalogue",
      lines: expect.arrayContaining(['command: "/usr/bin/weather"']),
    },
  ]);
  await registrations.unregister("weather", "one");
  await registrations.register(program("weather", "--other"), limits);
  expect(await removeServers(store, shown, "ada")).toEqual({ done: [], stale: ["weather"] });
  expect(await removeServers(store, await readRegistered(store), "ada")).toEqual({ done: ["weather"], stale: [] });
  expect(await readRegistered(store)).toEqual([]);
  expect(await registrations.isRejected(program("weather", "--other"), "one")).toBe(true);
  expect(await registrations.isRejected(program("weather", "--other"), "two")).toBe(false);
});

test("an agent can fill neither the operator's list nor the list of servers", async () => {
  const registrations = new Registrations(createMemoryTrustStore());
  const asked = await Promise.all(Array.from({ length: 12 }, (_, i) => registrations.ask(program(`a${i}`), "one")));
  expect(asked.filter((outcome) => outcome === "new")).toHaveLength(MAX_ASKED_PER_AGENT);
  expect(await registrations.ask(program("b"), "two")).toBe("new");
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, (_, i) => registrations.register(program(`s${i}`), limits)),
  );
  expect(outcomes.toSorted()).toEqual(["registered", "registered", "too_many", "too_many", "too_many", "too_many"]);
});

test("an agent that registers one server after the other cannot fill the store with what is pinned of them", async () => {
  const store = createMemoryTrustStore();
  const registrations = new Registrations(store);
  const once = async (name: string, agent: string, size: number) => {
    const outcome = await registrations.register(program(name), { ...limits, agent });
    if (outcome === "registered")
      await store.write(`pins/${name}`, "x".repeat(size), (await store.read(`pins/${name}`)).version);
    await registrations.unregister(name, agent);
    return outcome;
  };
  for (let i = 0; i < 6; i++) expect(await once(`large${i}`, "one", 3_000_000)).toBe("registered");
  expect(await once("more", "one", 1)).toEqual({ mostBytes: 16 * 1024 * 1024 });
  expect(await once("large0", "one", 1)).toBe("registered"); // again
  expect(await once("more", "one", 3_000_000)).toBe("registered");
  for (let i = 0; i < 64; i++) expect(await once(`small${i}`, "two", 1)).toBe("registered");
  expect(await once("one more", "two", 1)).toMatchObject({ mostBytes: expect.any(Number) });
  expect(
    await registrations.ask(
      program(
        "long",
        ..."x"
          .repeat(64)
          .split("")
          .map((x) => x.repeat(10_000)),
      ),
      "three",
    ),
  ).toBe("too_many");
  expect(await registrations.ask(program("long"), "three")).toBe("new");
});

test("a name belongs to the agent that has registered it, until it unregisters it", async () => {
  const registrations = new Registrations(createMemoryTrustStore());
  expect(await registrations.register(program("a"), limits)).toBe("registered");
  expect(await registrations.register(program("a"), limits)).toBe("registered"); // the same once more
  expect(await registrations.register(program("a", "other"), limits)).toBe("taken");
  expect(await registrations.register(program("a"), { ...limits, agent: "two" })).toBe("taken");
  expect(await registrations.unregister("a", "two")).toBe("not_yours");
  expect(await registrations.unregister("a", "one")).toBe("removed");
  expect(await registrations.unregister("a", "one")).toBe("unknown");
});

test("a registration whose content is not what its digest says is not believed", async () => {
  const store = createMemoryTrustStore();
  const registrations = new Registrations(store);
  await registrations.register(program("a"), limits);
  const { value, version } = await store.read("registrations");
  await store.write("registrations", JSON.parse(JSON.stringify(value).replace("weather", "sh")), version);
  await expect(registrations.read()).rejects.toThrow("not a record of registrations");
});
