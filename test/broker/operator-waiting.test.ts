import { Keep } from "@rockbot/contracts";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startAsking, tokensOf } from "./asking-system.ts";
import { connect, POLICY, whoTool } from "./verified-system.ts";

const entry = (name: string): string => `{ name: ${name}, ${tokensOf(name)}, may: [decide] }`;
const ASKED = `${POLICY.replace("{ name: ops, tokens: [] }", `${entry("ada")}, ${entry("bob")}`)}
approve: [{ tools: ["echo_*"], by: [ada, bob] }]
`;

/** A caller of a service whose tool needs an approval. */
async function start() {
  let ran = 0;
  const system = await startAsking(ASKED, whoTool("echo_who", { hold: async () => void ran++ }));
  const researcher = await connect(system.broker, "researcher");
  const caller = await createToolCaller(researcher, { agent: "researcher", policy: system.broker.policy });
  await caller.discovered();
  const dispose = async () => {
    for (const each of [caller, researcher, system]) await each[Symbol.asyncDispose]();
  };
  return { ...system, caller, ran: () => ran, [Symbol.asyncDispose]: dispose };
}

test("of operators who approve a call at once one does, over the broker and Redis, and it runs once at one replica", {
  timeout: 120_000,
}, async () => {
  await using system = await start();
  const call = system.caller.call("echo_who", { to: "bob" }, { timeoutMs: 60_000 });
  const one = await system.one();
  expect(one).toMatchObject({ service: "echoes", caller: "researcher", arguments: '{"to":"bob"}', mayDecide: true });
  const decided = await Promise.all(["ada", "bob"].map((by) => system.decide(by, one, "approve")));
  expect(decided.map(([status]) => status).sort()[0]).toBe(200);
  // The other one comes too late: it reads that the call waits no more, or the service says so.
  expect([404, 409]).toContain(decided.map(([status]) => status).sort()[1]);
  expect(await call).toMatchObject({ content: "researcher" });
  expect([system.ran(), (await system.list()).calls]).toEqual([1, []]);
});

test("a kept call waits for its service to run again, and is decided then", { timeout: 120_000 }, async () => {
  await using system = await start();
  const options = { keep: Keep.IfParked, timeoutMs: 1_000, toolCallId: "c0ffee".padEnd(32, "1") };
  await expect(system.caller.call("echo_who", {}, options)).rejects.toMatchObject({ code: "pending" });
  const one = await system.one();
  await Promise.all(system.replicas.map((replica) => replica[Symbol.asyncDispose]()));
  expect(await system.decide("ada", one, "approve")).toEqual([503, { message: expect.stringContaining('"echoes"') }]);
  await system.serve();
  await expect.poll(async () => (await system.decide("ada", one, "approve"))[0], { timeout: 30_000 }).toBe(200);
  await expect.poll(system.ran, { timeout: 20_000 }).toBe(1);
  expect(await system.caller.call("echo_who", {}, { ...options, timeoutMs: 20_000 })).toMatchObject({
    content: "researcher",
  });
  expect(system.ran()).toBe(1);
});
