import { expect, test } from "vitest";
import { errorReasons } from "./error-reasons.ts";
import { instruments } from "./instruments.ts";
import { logEvents } from "./log-events.ts";
import type { Source } from "./sources.ts";
import { parseSource } from "./syntax.ts";

const source = (text: string): Source => ({ file: "packages/p/src/a.ts", program: parseSource("a.ts", text).program });

test("a log line is found with its level and fields, also through a function of the file", () => {
  const found = logEvents([
    source(
      `const say = (what: string) => this.#log.warn({ redis }, what); say("one"); log.error({ a, b: 1 }, \`two \${x}\`); log.debug({}, "three");`,
    ),
  ]);
  expect(found).toEqual([
    { text: "one", level: "warn", fields: ["redis"], from: "p" },
    { text: "two {…}", level: "error", fields: ["a", "b"], from: "p" },
  ]);
});

test("a log line whose text does not stand in the sources is a fault", () => {
  expect(() => logEvents([source("log.warn({}, error.message);")])).toThrow("packages/p/src/a.ts");
});

test("an instrument is found with its unit and the tags of what is recorded", () => {
  const text = `const time = meter.createHistogram("p.time", { unit: "ms", description: "How long." }); const labels = { tool, status }; time.record(1, labels);`;
  expect(instruments([source(text)])).toEqual([
    { name: "p.time", kind: "histogram", unit: "ms", description: "How long.", tags: ["tool", "status"], from: "p" },
  ]);
});

test("an instrument without a description is a fault", () => {
  expect(() => instruments([source(`meter.createCounter("p.count")`)])).toThrow("p.count has no description");
});

test("a reason is found with the code of its error, also through a function that makes the error", () => {
  const text = `function failed(code, reason) { return new ToolError(code, "No", { details: { reason } }); } failed("timeout", "slow");
    throw new ToolError(ToolErrorCode.Denied, "No", { details: { reason: isA ? "a" : "b" } });`;
  expect(errorReasons([source(text)], { Denied: "denied" })).toEqual([
    { reason: "a", codes: ["denied"] },
    { reason: "b", codes: ["denied"] },
    { reason: "slow", codes: ["timeout"] },
  ]);
});
