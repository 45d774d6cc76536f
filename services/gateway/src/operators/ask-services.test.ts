import { generateKeyPairSync } from "node:crypto";
import { createMemoryBus } from "@rockbot/bus";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { createCommander } from "@rockbot/tools/commands";
import { expect, test } from "vitest";
import { loose } from "../test-gateway.ts";
import { askServices } from "./ask-services.ts";

const { privateKey: key, publicKey: operatorKey } = generateKeyPairSync("ed25519");

test("a service that answers late, or refuses, is named, and the answers of the others stand", async () => {
  await using bus = createMemoryBus();
  const late = Promise.withResolvers<object>();
  const serve = (service: string, commands: Parameters<typeof serveTools>[2]["commands"]) =>
    serveTools(bus, { tools: [defineTool(loose(service), async () => "")] }, { service, operatorKey, commands });
  await using _quick = await serve("quick", { tell: async () => ({ isHere: true }) });
  await using _late = await serve("late", { tell: () => late.promise });
  await using _other = await serve("other", {});
  await using caller = await createToolCaller(bus, { agent: "gateway" });
  await using commander = createCommander(bus, { key, source: "gateway", policy: undefined });
  await caller.discovered();

  const question = { kind: "tell", operator: "ada", bodyOf: () => ({}), timeoutMs: 2_000 };
  const { answers, problems } = await askServices({ caller, commander }, question);
  expect(answers).toEqual([{ service: "quick", answer: { isHere: true } }]);
  expect([...problems].sort()).toEqual([
    expect.stringContaining('"other" knows no command "tell"'),
    'Not all of "late" answered in time',
  ]);
  late.resolve({});
});
