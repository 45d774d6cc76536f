/**
 * Runs work that is tried again and again. `onFault` hears of the first failure, and of the next one once the work has
 * succeeded in between.
 */
export function attempts(onFault: (error: unknown) => void): (work: () => Promise<void>) => Promise<void> {
  let isFailing = false;
  return async (work) => {
    try {
      await work();
      isFailing = false;
    } catch (error) {
      if (!isFailing) onFault(error);
      isFailing = true;
    }
  };
}
