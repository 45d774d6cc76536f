import { existsSync } from "node:fs";
import { join } from "node:path";
import { startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { bundleForTests } from "./bundle-for-tests.ts";

const root = join(import.meta.dirname, "../..");

test("the programs that tests start are bundled into a folder that stays while they are the same", {
  timeout: 240_000,
}, async () => {
  const folder = await bundleForTests(root);
  expect(await bundleForTests(root)).toBe(folder);
  expect(existsSync(join(folder, "page-process-main.mjs"))).toBe(true);

  using place = temporaryFolder();
  const env = { ROCKBOT_RUNTIME_DIR: place.path, DATA_DIRECTORY: place.path };
  await using command = startNodeProgram(join(folder, "packages-cli-src-main.mjs"), { args: ["--version"], env });
  await using service = startNodeProgram(join(folder, "services-main.mjs"), { args: ["no-such-service"], env });
  expect([await command.ended, await service.ended]).toEqual([0, 2]);
  expect(service.stderr()).toContain("there is no such service");
});
