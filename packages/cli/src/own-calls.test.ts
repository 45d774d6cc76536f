import { createHash } from "node:crypto";
import { ownVirtualHost, startOwnRedis, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { runHere, startCli, startPage, startUp } from "./test-cli.ts";

const TOKEN = "token-of-ada-0123456789";
const POLICY = `
everyone: { allow: ["*"] }
operators: [{ name: ada, tokens: [{ hash: "sha256:${createHash("sha256").update(TOKEN).digest("hex")}" }], may: [read, decide], sees: [arguments] }]
approve: [{ tools: [html_to_text], by: [ada] }]
`;
const HTML = '{"html":"<p>Hello"}';
const ID = /^[0-9a-f]{32}\n$/;

/** Approves the one call that waits. */
async function approve(url: string): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const answer = await fetch(`${url}/operator/waiting`, { headers });
  const { calls } = (await answer.json()) as {
    readonly calls: readonly { readonly id: string; readonly shown: string }[];
  };
  const [{ id, shown } = { id: "", shown: "" }] = calls;
  const body = JSON.stringify({ verdict: "approve", shown });
  expect((await fetch(`${url}/operator/waiting/${id}`, { method: "POST", headers, body })).status).toBe(200);
}

test("a detached call is an id, which says how it stands, waits for its end and cancels it, also after a restart of up", {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  await using page = await startPage();
  const options = { folder: folder.path, env: { POLICY_FILE: folder.write("policy.yaml", POLICY) } };
  const args = ["--only", "web-tools,gateway", "--allow-address", page.address];
  const run = (...words: string[]) => runHere(words, { folder: folder.path });
  expect(await run("call", "html_to_text", HTML, "--detach")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("Cannot detach the call"),
  });
  let id: string;
  {
    await using up = await startUp(options, args);
    const detached = await run("call", "html_to_text", HTML, "--detach");
    expect(detached).toMatchObject({ code: 0, stdout: expect.stringMatching(ID) });
    id = detached.stdout.trim();
    expect(detached.stderr).toContain(`rockbot calls wait ${id}`);
    expect((await run("calls")).stdout).toMatch(/ waits for the approval of ada .* html_to_text +cli/);
    expect((await run("calls", "show", id)).stdout).toMatch(/^waits for the approval of ada after/m);
    const early = { code: 3, stdout: "", stderr: expect.stringContaining("waits for the approval of ada") };
    expect(await run("calls", "result", id)).toMatchObject(early);
    expect(await run("calls", "wait", id, "--timeout", "1")).toMatchObject(early);
    const waited = run("calls", "wait", id);
    await approve(up.url);
    expect(await waited).toMatchObject({ code: 0, stdout: "Hello\n" });
    expect((await run("calls")).stdout).toMatch(/ answered /);

    const late = await run("call", "html_to_text", HTML, "--timeout", "300", "--json");
    const { toolCallId, code } = JSON.parse(late.stdout) as { readonly toolCallId: string; readonly code: string };
    expect([late.code, code]).toEqual([3, "pending"]);
    const cancelled = await run("calls", "cancel", toolCallId, "--json");
    expect([cancelled.code, JSON.parse(cancelled.stdout)]).toMatchObject([0, { state: "failed", code: "cancelled" }]);
    expect((await run("calls", "result", toolCallId)).stderr).toContain("cancelled");
    expect((await run("calls", "cancel", toolCallId)).stderr).toContain("it has ended");

    const slow = (await run("call", "web_browse", `url=${page.url("/slow")}`, "--detach")).stdout.trim();
    await expect.poll(() => page.requests, { timeout: 10_000 }).toContain("/slow");
    expect((await run("calls")).stdout).toContain(" runs detached ");
    expect(await run("calls", "cancel", slow)).toMatchObject({ code: 0, stderr: expect.stringContaining("cancelled") });
    await expect.poll(() => page.closed).toContain("/slow");
  }
  await using _up = await startUp(options, args);
  expect(await run("calls", "result", id)).toMatchObject({ code: 0, stdout: "Hello\n" });
  expect(await run("call", "html_to_text", HTML, "--id", id)).toMatchObject({ code: 0, stdout: "Hello\n" });
  expect(await run("calls", "wait", "0".repeat(32))).toMatchObject({ code: 1 });
  expect(await run("calls", "wait", "0123")).toMatchObject({ code: 2 });
});

test("over a broker the Redis of the services tells of a detached call, and without it the command says what to do", {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  await using host = await ownVirtualHost();
  await using redis = await startOwnRedis();
  const options = {
    folder: folder.path,
    env: { POLICY_FILE: folder.write("policy.yaml", POLICY), REDIS_URL: redis.url },
  };
  await using up = await startUp(options, ["--only", "web-tools,gateway", "--bus", host.url]);
  const run = (...words: string[]) => runHere([...words, "--bus", host.url], { folder: folder.path });

  const detached = await run("call", "html_to_text", HTML, "--detach");
  expect(detached).toMatchObject({ code: 0, stdout: expect.stringMatching(ID) });
  const id = detached.stdout.trim();
  expect(await run("calls", "result", id)).toMatchObject({ code: 1, stderr: expect.stringContaining("--redis") });
  const at = ["--redis", redis.url];
  expect(await run("calls", "result", id, ...at)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("waits for the approval of ada"),
  });
  const waited = run("calls", "wait", id, ...at);
  await approve(up.url);
  expect(await waited).toMatchObject({ code: 0, stdout: "Hello\n" });

  const other = (await run("call", "html_to_text", HTML, "--detach")).stdout.trim();
  expect(await run("calls", "cancel", other, ...at)).toMatchObject({ code: 0 });
  expect((await run("calls", "result", other, ...at)).stderr).toContain("cancelled");
});

test("Ctrl-C ends the wait for a call, and not the call", { timeout: 60_000 }, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path, env: { POLICY_FILE: folder.write("policy.yaml", POLICY) } };
  await using _up = await startUp(options, ["--only", "web-tools,gateway"]);
  const id = (await runHere(["call", "html_to_text", HTML, "--detach"], options)).stdout.trim();
  await using wait = startCli(["calls", "wait", id], { folder: folder.path });
  await expect.poll(wait.stderr, { timeout: 20_000 }).toContain("waits for the approval of ada");
  wait.kill("SIGINT");
  expect(await wait.ended).toMatchObject({ code: 130, stderr: expect.stringContaining("the call goes on") });
  expect((await runHere(["calls", "result", id], options)).code).toBe(3);
});
