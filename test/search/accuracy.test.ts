import { expect, test } from "vitest";
import { accuracyOf, type Rankers, rankersOf, serviceAnswers } from "./accuracy.ts";
import { contextSizes } from "./context-saved.ts";
import { readSet } from "./read-set.ts";
import { realTools } from "./real-tools.ts";

test("of 40 and more services with 250 and more tools the right one is among five for 95 % of the questions, and first for 60 %", async () => {
  const { services, tuning, heldOut } = await readSet();
  const find = (rankersOf(services).get("all") as Rankers).services;
  const { top1, top5 } = await accuracyOf(find, [...tuning, ...heldOut], serviceAnswers);
  const tools = services.reduce((sum, entry) => sum + entry.tools.length, 0);
  expect(services.length).toBeGreaterThanOrEqual(40);
  expect(tools).toBeGreaterThanOrEqual(250);
  expect(top5).toBeGreaterThanOrEqual(0.95);
  expect(top1).toBeGreaterThanOrEqual(0.6);
});

test("of 100 tools of real servers the tools mode saves nine tenths of the tokens", { timeout: 120_000 }, async () => {
  const [size] = contextSizes(await realTools(), [100]);
  expect(1 - Number(size?.few) / Number(size?.all)).toBeGreaterThanOrEqual(0.9);
});
