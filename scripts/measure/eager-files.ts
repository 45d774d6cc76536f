import type { Metafile } from "esbuild";

/**
 * The files that run at each start: those to which static imports alone lead from the main, or from the settings and
 * the start of the one service that is bundled.
 */
export function eagerFiles({ inputs, outputs }: Metafile): ReadonlySet<string> {
  const reached = new Set(
    Object.values(outputs).flatMap(({ entryPoint }) => (entryPoint?.endsWith("/main.ts") ? entryPoint : [])),
  );
  for (const file of reached) {
    const isList = file === "services/main.ts" || file === "services/index.ts";
    for (const { path, kind } of inputs[file]?.imports ?? [])
      if (kind !== "dynamic-import" || isList) reached.add(path);
  }
  return reached;
}
