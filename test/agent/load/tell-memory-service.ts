/**
 * For `node --expose-gc --import`: on SIGUSR2 a process collects its garbage, and says on stdout what it still has, as
 * JSON.
 */
process.on("SIGUSR2", () => {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  process.stdout.write(`\n{"memory":${JSON.stringify({ heapUsed, rss })}}\n`);
});
