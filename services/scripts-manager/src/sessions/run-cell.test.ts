import type { ResumableCallContext } from "@rockbot/tools";
import { expect, test } from "vitest";
import { type RunCellParts, runCell } from "./run-cell.ts";

test("a cell that an earlier process may have begun is not run again, and says where to look", async () => {
  const context = { caller: "ada", mayHaveBegun: true } as ResumableCallContext;
  await expect(runCell({ script: "1", session: "s1" }, context, {} as RunCellParts)).rejects.toMatchObject({
    code: "outcome_unknown",
    details: { mayHaveRun: true },
    message: expect.stringMatching(/"s1".*list_script_sessions/),
  });
});
