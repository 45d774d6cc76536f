import { expect, test } from "vitest";
import { mendedEvents } from "./mended-body.ts";

test.each([
  ["retry: 0", "retry: 100"],
  ["retry:0", "retry: 100"],
  ["retry: 250", "retry: 250"],
  ["retry: 99999999999999999999", "retry: 60000"],
  ["retry: -1", "retry: -1"], // none, for a reader of events
])("a server that asks by %j to be asked again has its pause within bounds", async (asked, read) => {
  const events = new Blob([`id: 1\n${asked}\ndata: 1\n\n`]).stream().pipeThrough(mendedEvents(() => undefined));
  expect(await new Response(events).text()).toBe(`id: 1\n${read}\ndata: 1\n\n`);
});
