import { expect, onTestFinished, test } from "vitest";
import { routeConsole } from "./route-console.ts";
import { registerSecret } from "./secrets.ts";

test("what is written to the console goes where it is told to, as the console would write it, without a secret", () => {
  registerSecret("canary-on-the-console");
  const { log, warn, error } = console;
  onTestFinished(() => void Object.assign(console, { log, warn }));
  const written: unknown[] = [];
  routeConsole(["warn", "log"], (text, method) => written.push([method, text]));
  console.warn("%s of %d", "canary-on-the-console", 2, { deep: ["canary-on-the-console"] });
  console.log("plain");
  expect(written).toEqual([
    ["warn", "[redacted] of 2 { deep: [ '[redacted]' ] }"],
    ["log", "plain"],
  ]);
  expect(console.error).toBe(error);
});
