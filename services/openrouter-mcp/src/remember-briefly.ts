/**
 * Makes a function that loads something and gives it again for `ms` milliseconds; who asks while it is being loaded
 * gets the same. A value that could not be loaded is not remembered.
 */
export function rememberBriefly<T>(ms: number, load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  let loadedAt = Number.NEGATIVE_INFINITY;
  let last: T | undefined;
  async function loadAnew(): Promise<T> {
    try {
      last = await load();
      loadedAt = performance.now();
      return last;
    } finally {
      loading = undefined;
    }
  }
  return async () => {
    if (last !== undefined && performance.now() - loadedAt < ms) return last;
    loading ??= loadAnew();
    return loading;
  };
}
