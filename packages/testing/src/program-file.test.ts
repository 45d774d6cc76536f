import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { PROGRAM_FOLDER, programFile } from "./program-file.ts";

const inRoot = (path: string): string => join(import.meta.dirname, "../../..", path);
const [services, tests] = [inRoot("services/main.ts"), inRoot("test/services/echo-service.ts")];

afterEach(() => {
  vi.unstubAllEnvs();
});

test("the command and the services start from the run's bundle, a test's own programs from their sources", () => {
  vi.stubEnv(PROGRAM_FOLDER, "/bundled");
  expect(programFile(services)).toBe("/bundled/services.mjs");
  expect(programFile(inRoot("packages/cli/src/main.ts"))).toBe("/bundled/main.mjs");
  expect(programFile(tests)).toBe(tests);
});

test("without a bundle all start from their sources", () => {
  vi.stubEnv(PROGRAM_FOLDER, undefined);
  expect(programFile(services)).toBe(services);
});
