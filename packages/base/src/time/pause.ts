import { type AbortSource, onAbort } from "../abort/light-abort.ts";

/** Resolves after so many milliseconds, or when the source aborts. The caller checks which of them it was. */
export function pause(ms: number, source?: AbortSource): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      leave?.();
      resolve();
    }, ms);
    const leave =
      source &&
      onAbort(source, () => {
        clearTimeout(timer);
        resolve();
      });
  });
}
