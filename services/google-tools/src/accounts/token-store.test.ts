import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { TokenStore } from "./token-store.ts";

const grant = { account: "alice@example.com", scopes: ["a"], refreshToken: "1//canary-of-a-refresh-token" };

test("tokens lie in files that only their user can read, a folder for each product", async () => {
  using folder = temporaryFolder();
  const store = new TokenStore(folder.path, undefined);
  await store.write("gmail", grant);
  await store.write("gmail", { ...grant, scopes: ["b"] });
  const path = join(folder.path, ".gmail-tokens");
  expect(readdirSync(path)).toEqual(["alice@example.com.json"]);
  expect(statSync(join(path, "alice@example.com.json")).mode & 0o777).toBe(0o600);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(await store.read("gmail", grant.account)).toMatchObject({ scopes: ["b"], refreshToken: grant.refreshToken });
  expect(await store.accounts("gmail")).toEqual([grant.account]);
  expect([await store.accounts("calendar"), await store.read("calendar", grant.account)]).toEqual([[], undefined]);
  await expect(store.read("gmail", "../../etc/passwd")).rejects.toThrow(RangeError);
});

test.each(["hex", "base64"] as const)(
  "with a key as %s a file shows no token, and opens with that key and in its place only",
  async (form) => {
    using folder = temporaryFolder();
    const store = new TokenStore(folder.path, randomBytes(32).toString(form));
    await store.write("gmail", grant);
    const path = join(folder.path, ".gmail-tokens", "alice@example.com.json");
    expect(readFileSync(path, "utf8")).not.toContain("canary");
    expect(await store.read("gmail", grant.account)).toEqual(grant);
    await expect(
      new TokenStore(folder.path, randomBytes(32).toString("hex")).read("gmail", grant.account),
    ).rejects.toThrow("GOOGLE_TOKEN_KEY is not the key");
    await expect(new TokenStore(folder.path, undefined).read("gmail", grant.account)).rejects.toThrow(
      "Set GOOGLE_TOKEN_KEY",
    );
    renameSync(path, path.replace("alice", "bob"));
    await expect(store.read("gmail", "bob@example.com")).rejects.toThrow("somebody has changed it");
  },
);
