import { silentLogger } from "@rockbot/bus";
import type { AuditLine, AuditLog } from "@rockbot/records/audit";
import { expect, test } from "vitest";
import { createOperator } from "./operator.ts";
import { createSee } from "./see.ts";

test("an operator sees what its entry names and nothing else, and the audit log has each reading before it is answered", async () => {
  const lines: AuditLine[] = [];
  const audit: AuditLog = {
    isWriting: true,
    write: async (line) => void lines.push(line),
    [Symbol.asyncDispose]: async () => {},
  };
  const operator = createOperator({ name: "ada", may: ["read"], speaksFor: ["*"], sees: ["arguments"] });
  const see = createSee(operator, { audit, log: silentLogger });
  expect(await see("results", "c1")).toBe(false);
  expect(await see("transcripts", "s1")).toBe(false);
  expect(lines).toEqual([]);
  expect(await see("arguments", "c1")).toBe(true);
  expect(lines).toEqual([
    { event: "operator", service: "gateway", operator: "ada", action: "read arguments", of: "c1", outcome: "ok" },
  ]);
});
