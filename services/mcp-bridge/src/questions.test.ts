import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { Keep } from "@rockbot/contracts";
import { openSqliteRunStore } from "@rockbot/runs";
import { createCommander } from "@rockbot/tools/commands";
import { expect, test } from "vitest";
import { startTestBridge } from "./test-bridge.ts";

const { privateKey, publicKey: operatorKey } = generateKeyPairSync("ed25519");
const SERVER = join(import.meta.dirname, "../../../packages/mcp/src/client/test-modern-stdio.ts");
const TOOL = "shop__order";

test("a server's question in the middle of a call waits for a person, whose answer the server gets with its own state", async () => {
  await using runs = await openSqliteRunStore(undefined);
  const servers = () => ({ shop: { command: process.execPath, args: [SERVER] } });
  await using tested = await startTestBridge(servers, { runs, operatorKey });
  const { bus, caller } = tested;
  await using commander = createCommander(bus, { key: privateKey, source: "gateway", policy: undefined });

  const asked = { keep: Keep.IfParked, timeoutMs: 2_000, toolCallId: "order-1" };
  const left = await caller.call(TOOL, {}, asked).catch((error: unknown) => error);
  // The words of a stranger's question are for people, and not for the model that called.
  expect(left).toMatchObject({ code: "pending", message: expect.stringContaining("a question of mcp:shop") });
  expect(left).toMatchObject({ message: expect.not.stringContaining("How many") });
  const [run] = await runs.open("mcp-bridge", 1);
  expect(run?.question).toMatchObject({ message: "How many?", origin: "mcp:shop" });

  const answer = async (value: unknown) => {
    const [open] = await runs.open("mcp-bridge", 1);
    const body = { caller: open?.caller, toolCallId: open?.toolCallId, hash: open?.question?.hash, value };
    const command = { kind: "run.answer", service: "mcp-bridge", operator: "ann", body };
    return commander.send(command, { instances: 1, timeoutMs: 5_000 });
  };
  expect(await answer({ count: "three" })).toEqual([{ state: "ready" }]);
  await expect.poll(async () => (await runs.open("mcp-bridge", 1))[0]?.question?.faults).toContain("count");
  expect(await answer({ count: 3 })).toEqual([{ state: "ready" }]);
  await expect.poll(() => runs.open("mcp-bridge", 1)).toEqual([]);
  expect(await caller.call(TOOL, {}, asked)).toMatchObject({ content: "ordered 3, as it was" });
});
