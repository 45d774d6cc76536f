import { expect, test } from "vitest";
import { redact, redactValue, registerSecret, registerUrlSecret } from "./secrets.ts";

test("what one part of the process registers is taken out of what any other says", () => {
  registerSecret("canary-of-the-process");

  expect(redact("say canary-of-the-process")).toBe("say [redacted]");
  expect(redactValue({ text: "canary-of-the-process" })).toEqual({ text: "[redacted]" });
});

test.each([
  ["amqp://user:canary%2Fof%20a%20url@host/", ["canary/of a url", "canary%2Fof%20a%20url"]],
  ["redis://:canary-of-redis@host", ["canary-of-redis"]],
  ["amqp://tester:short@host", ["tester:short"]],
  ["amqp://user:100%-canary@host", ["100%-canary"]],
])("the password in %s is a secret", (url, secrets) => {
  registerUrlSecret(url);

  for (const secret of secrets) expect(redact(`<${secret}>`)).toBe("<[redacted]>");
});

test.each(["no url", "amqp://host/", "amqp://user@host/", ""])("there is no secret in %j", (url) => {
  registerUrlSecret(url);

  expect(redact(`${url} `)).toBe(`${url} `);
});
