import { join } from "node:path";
import { runTool } from "../check/run-tool.ts";

/**
 * What publint and Are The Types Wrong find in the package as it is packed, for programs that are ES modules.
 * @param tarball relative to `root`
 * @throws {Error} with all that they find
 */
export async function checkLibrary(root: string, tarball: string): Promise<void> {
  const file = join(root, tarball);
  const outcomes = await Promise.allSettled([
    runTool(root, "publint", [file, "--strict"]),
    runTool(root, "attw", [file, "--profile", "esm-only"]),
  ]);
  const faults = outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [(outcome.reason as Error).message] : [],
  );
  if (faults.length > 0) throw new Error(faults.join("\n"));
}
