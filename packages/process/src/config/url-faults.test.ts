import { expect, test } from "vitest";
import { urlFaults } from "./url-faults.ts";

test.each([
  undefined,
  "memory:",
  "amqp://user:password@host:5672/vhost",
  "https://api.example",
  "redis://u:p@host:6379/3",
  "rediss://host",
  "redis+sentinel://u:p@one,two:26379/claims",
])("%s has no fault", (text) => {
  expect(urlFaults("busUrl", text)).toEqual([]);
});

test.each([
  "amqp://u:canary%@[bad",
  "amqp://u:canary@ho st",
  "https://h:canary",
  "redis://",
  "redis:///1",
  "redis://h/canary/y",
  "redis://u:canary@h/1?x=y",
  "redis://u:canary%@h",
  "redis+sentinel://u:canary@one,two",
])("%s is one fault that does not hold it", (text) => {
  expect(urlFaults("busUrl", text)).toEqual([expect.stringMatching(/^busUrl: (?!.*canary)/)]);
});
