import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openPolicy } from "./open-policy.ts";

async function folder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "policy-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function listener() {
  const events: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void events.push({ level, fields: fields as Record<string, unknown>, message });
  return { events, log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") } };
}

test("takes up a changed file without a restart, and tells who wants to know", async () => {
  await using there = await folder();
  const file = join(there.path, "policy.yaml");
  await writeFile(file, "everyone: { allow: ['*'], deny: [x] }");
  await using policy = await openPolicy(file, { everyMs: 5 });
  const before = policy.current();
  const changed = new Promise((resolve) => policy.onChange(resolve));
  expect(before.decide({ caller: "a", tool: "x" }).isAllowed).toBe(false);
  await writeFile(file, "everyone: { allow: ['*'], deny: [y] }");
  expect(await changed).toBe(policy.current());
  expect(policy.current().decide({ caller: "a", tool: "x" })).toMatchObject({
    isAllowed: true,
    revision: policy.current().revision,
  });
  expect(policy.current().revision).not.toBe(before.revision);
});

test("takes up a folder that is swapped under a link, as Kubernetes does", async () => {
  await using there = await folder();
  for (const [name, denied] of Object.entries({ one: "x", two: "y" })) {
    await mkdir(join(there.path, name));
    await writeFile(join(there.path, name, "policy.yaml"), `everyone: { allow: ['*'], deny: [${denied}] }`);
  }
  await symlink("one", join(there.path, "data"));
  await symlink(join("data", "policy.yaml"), join(there.path, "policy.yaml"));
  await using policy = await openPolicy(join(there.path, "policy.yaml"), { everyMs: 5 });
  await symlink("two", join(there.path, "next"));
  await rename(join(there.path, "next"), join(there.path, "data"));
  await expect.poll(() => policy.current().decide({ caller: "a", tool: "y" }).isAllowed).toBe(false);
  expect(policy.current().decide({ caller: "a", tool: "x" }).isAllowed).toBe(true);
});

test("content that cannot be used changes nothing, is logged once with all faults, and is left behind by content that can", async () => {
  await using there = await folder();
  const file = join(there.path, "policy.yaml");
  await writeFile(file, "everyone: { allow: ['*'], deny: [x] }");
  const { events, log } = listener();
  const errors = () => events.filter(({ level }) => level === "error");
  await using policy = await openPolicy(file, { everyMs: 5, log });
  const before = policy.current();
  await writeFile(file, "everyone: { denny: [x], alow: [] }");
  await expect.poll(errors).toHaveLength(1);
  expect(errors()[0]?.fields["reason"]).toMatch(/unknown property "denny".*\n.*unknown property "alow"/);
  await rm(file);
  await expect.poll(errors).toHaveLength(2);
  expect(errors()[1]?.fields["reason"]).toContain("cannot be read (ENOENT)");
  expect(policy.current()).toBe(before);
  await writeFile(file, "everyone: { allow: ['*'], deny: [z] }");
  await expect.poll(() => policy.current().decide({ caller: "a", tool: "z" }).isAllowed).toBe(false);
  expect(errors()).toHaveLength(2);
});

test("another identity changes nothing, and is logged once as what a restart takes up", async () => {
  await using there = await folder();
  const file = join(there.path, "policy.yaml");
  await writeFile(file, "everyone: { allow: ['*'], deny: [x] }");
  const { events, log } = listener();
  const errors = () => events.filter(({ level }) => level === "error");
  await using policy = await openPolicy(file, { everyMs: 5, log });
  const before = policy.current();
  await writeFile(
    file,
    "everyone: { allow: ['*'], deny: [y] }\nidentity: verified\nservices: { web: { topic: tool.invoke } }",
  );
  await expect.poll(errors).toHaveLength(1);
  expect(errors()[0]?.fields["reason"]).toMatch(/identity, line 2: it is "verified" now.*"trusted".*Restart/);
  expect(policy.current()).toBe(before);
  await writeFile(file, "everyone: { allow: ['*'], deny: [z] }");
  await expect.poll(() => policy.current().decide({ caller: "a", tool: "z" }).isAllowed).toBe(false);
  expect(errors()).toHaveLength(1);
});

test("fails at the start if the file cannot be used, and says loudly that there is none", async () => {
  await expect(openPolicy("/nonexistent/policy.yaml")).rejects.toMatchObject({
    name: "ConfigError",
    faults: ["it cannot be read (ENOENT). Give a readable file or none"],
  });
  const { events, log } = listener();
  await using policy = await openPolicy(undefined, { log });
  expect(policy.current().revision).toBe("default");
  expect(events).toMatchObject([{ level: "warn", message: expect.stringContaining("no policy file") }]);
});
