/**
 * Waits for `work`, at most `ms` milliseconds. The work itself goes on: what it does later is nobody's concern.
 * @throws what `lateError` makes, once the time is over
 */
export async function within<T>(ms: number, work: Promise<T>, lateError: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(lateError()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
