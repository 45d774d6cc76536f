import type { Metafile } from "esbuild";

/** The files that run at start: those to which static imports alone lead from `main.ts`. */
export function eagerFiles({ inputs, outputs }: Metafile): ReadonlySet<string> {
  const reached = new Set(Object.values(outputs).flatMap(({ entryPoint }) => (entryPoint?.endsWith("/src/main.ts") ? entryPoint : [])));
  for (const file of reached) {
    for (const { path, kind } of inputs[file]?.imports ?? []) if (kind !== "dynamic-import") reached.add(path);
  }
  return reached;
}
