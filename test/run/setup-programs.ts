import { join } from "node:path";
import { PROGRAM_FOLDER } from "@rockbot/testing";
import type { TestProject } from "vitest/node";
import { bundleForTests } from "../../scripts/bundle/bundle-for-tests.ts";

/** How tests start programs, as ROCKBOT_TEST_PROGRAMS says. */
const KINDS = ["bundled", "sources"];

/**
 * Bundles the programs that tests start, where ROCKBOT_TEST_PROGRAMS asks for it: then each start costs half. A run
 * that watches the sources starts them as they are.
 */
export async function setUpPrograms({ vitest }: TestProject): Promise<void> {
  const kind = process.env["ROCKBOT_TEST_PROGRAMS"] ?? "sources";
  if (!KINDS.includes(kind))
    throw new Error(`Cannot run tests: ROCKBOT_TEST_PROGRAMS is "${kind}", and neither of ${KINDS.join(", ")}`);
  if (kind === "sources" || vitest.config.watch) delete process.env[PROGRAM_FOLDER];
  else process.env[PROGRAM_FOLDER] ??= await bundleForTests(join(import.meta.dirname, "../.."));
}
