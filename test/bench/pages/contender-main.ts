/**
 * The program of a process in which one contender converts pages, one after the other: bench.ts starts it with the
 * contender's file, nothing imports it. Its first message says that it is ready; then each PageRequest is answered by a
 * PageAnswer.
 */
import { join } from "node:path";
import type { Convert } from "./contenders.ts";

export interface PageRequest {
  readonly html: string;
  readonly url: string;
}

export interface PageAnswer {
  /** Empty if the contender failed. */
  readonly markdown: string;
  readonly failure?: string;
  /** The processor time of all threads of the process. */
  readonly cpuMs: number;
  /** The most memory that the process has had until now. */
  readonly peakMb: number;
}

const { convert } = (await import(join(import.meta.dirname, "contenders", process.argv[2] ?? ""))) as {
  readonly convert: Convert;
};
// What a contender prints is no answer.
console.log = console.warn = console.error = console.info = console.debug = () => {};
process.once("disconnect", () => process.exit());
process.on("message", (request: PageRequest) => void answer(request).then((reply) => process.send?.(reply)));
process.send?.("ready");

async function answer({ html, url }: PageRequest): Promise<PageAnswer> {
  const before = process.cpuUsage();
  const result = await attempt(html, url);
  const { user, system } = process.cpuUsage(before);
  return { ...result, cpuMs: (user + system) / 1000, peakMb: process.resourceUsage().maxRSS / 1024 };
}

async function attempt(html: string, url: string): Promise<Pick<PageAnswer, "markdown" | "failure">> {
  try {
    return { markdown: await convert(html, url) };
  } catch (error) {
    return { markdown: "", failure: String(error) };
  }
}
