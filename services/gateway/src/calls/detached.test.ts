import { openSqliteRunStore } from "@rockbot/runs";
import { defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { loose, startTestGateway } from "../test-gateway.ts";

test("a call that its client does not wait for has an address, where its end is found later, whoever asks and however often", async () => {
  await using runs = await openSqliteRunStore(undefined);
  await using gateway = await startTestGateway({}, undefined, undefined, { runs });
  const end = Promise.withResolvers<string>();
  const slow = defineTool({ ...loose("slow"), readOnly: false, idempotent: false }, () => end.promise);
  const set = { tools: [slow], guides: [{ name: "slow", summary: "Of slow.", document: "# Slow" }] };
  await using _ = await serveTools(gateway.bus, set, { service: "slow", runs });
  await expect.poll(async () => (await gateway.send({ path: "/v1/tools" })).text).toContain('"slow"');

  const asked = await gateway.invoke("slow", {}, { prefer: "respond-async" });
  const { code, toolCallId } = JSON.parse(asked.text) as { code: string; toolCallId: string };
  expect([asked.status, code]).toEqual([202, "pending"]);
  expect(asked.headers["location"]).toBe(`/v1/calls/${toolCallId}`);

  const look = async () => JSON.parse((await gateway.send({ path: `/v1/calls/${toolCallId}` })).text) as object;
  await expect.poll(look).toMatchObject({ state: "running", toolName: "slow" });
  end.resolve("at last");
  await expect.poll(look).toMatchObject({ state: "answered", result: { content: "at last" } });
  expect(await look()).toMatchObject({ result: { content: "at last" } });
});

test("a detached call that is refused is refused at once, as any other", async () => {
  await using runs = await openSqliteRunStore(undefined);
  await using gateway = await startTestGateway({}, undefined, undefined, { runs });
  expect(await gateway.invoke("nothing", {}, { prefer: "respond-async" })).toMatchObject({ status: 404 });
});
