/**
 * Waits for an answer over the network, at most `ms` milliseconds. While this process was busy an answer may have come that
 * nobody has read yet, so once the time is over what lies there is read before it counts as missing.
 * @throws what `lateError` makes, once the time is over
 */
export function answerWithin<T>(ms: number, answer: Promise<T>, lateError: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    let isSettled = false;
    // Timers run before sockets are read, immediates after.
    const timer = setTimeout(() => {
      setImmediate(() => {
        if (!isSettled) reject(lateError());
      });
    }, ms);
    const settle = () => {
      isSettled = true;
      clearTimeout(timer);
    };
    answer.then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error);
      },
    );
  });
}
