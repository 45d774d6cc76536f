import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "./machine/temporary-folder.ts";
import { PROGRAM_FOLDER, programFile } from "./program-file.ts";

const inRoot = (path: string): string => join(import.meta.dirname, "../../..", path);

afterEach(() => {
  vi.unstubAllEnvs();
});

test("a program starts from the run's bundle where it is in it, and from its sources elsewhere", () => {
  using folder = temporaryFolder();
  const bundled = folder.write("services-main.mjs", "");
  const [services, other] = [inRoot("services/main.ts"), inRoot("test/mcp/bench-server.ts")];
  vi.stubEnv(PROGRAM_FOLDER, folder.path);
  expect([programFile(services), programFile(other)]).toEqual([bundled, other]);
  expect(programFile("/elsewhere/services/main.ts")).toBe("/elsewhere/services/main.ts");
  vi.stubEnv(PROGRAM_FOLDER, undefined);
  expect(programFile(services)).toBe(services);
});
