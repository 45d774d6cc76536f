import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { calls } from "./calls.ts";
import { type Answer, type OpenWays, ways } from "./ways.ts";

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

/**
 * Defines a test for each tool and each way to call it.
 * @param opened the ways, once tests run
 * @param off why a tool is not offered there, by its name: then a call of it has to fail
 */
export function testEveryTool(opened: () => OpenWays, off: Readonly<Record<string, string | undefined>> = {}): void {
  for (const way of ways) {
    describe.skipIf(way === "curl" && !hasCurl)(
      `by ${way}${way === "curl" && !hasCurl ? " (skipped: this machine has no curl)" : ""}`,
      () => {
        const before = new Map<string, Answer>();
        for (const { tool, args, answer } of calls) {
          const why = off[tool];
          test(`${tool}${why === undefined ? " answers" : ` is not offered, as ${why}`}`, async () => {
            const call = opened()[way](tool, args(way, before));
            if (why !== undefined) return await expect(call).rejects.toThrow("no running service offers it");
            const said = await call;
            before.set(tool, said);
            const { content = "", structured } = answer(way);
            expect(said).toMatchObject({
              content: expect.stringContaining(content),
              ...(structured === undefined ? {} : { structured }),
            });
          });
        }
      },
    );
  }
}
