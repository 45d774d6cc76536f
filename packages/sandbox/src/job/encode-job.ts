import { createHash } from "node:crypto";
import type { PackedLayer } from "../layer/pack-layer.ts";
import type { ScriptJob } from "../script-runner.ts";
import { whole } from "./whole.ts";

export interface EncodeJobOptions {
  /** The bound for stdout, and for stderr. */
  readonly keepBytes: number;
  /** The bytes kept from the end of longer output. @default 0 */
  readonly tailBytes?: number | undefined;
  /**
   * When the script must have ended, on the clock of `performance.now()`; the script gets what is left of it when it is
   * sent on.
   * @default never
   */
  readonly endBy?: number | undefined;
  /** What was installed for it, where the sandbox has to be sent that. */
  readonly layer?: PackedLayer | undefined;
}

/** What is small is sent together. */
const CHUNK_BYTES = 64 * 1024;

/**
 * A job as the supervisor reads it, piece by piece: see `frames.ts`.
 * @throws {ToolError} if the layer cannot be read
 */
export async function* encodeJob(job: ScriptJob, options: EncodeJobOptions): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const part of partsOf(job, options)) {
    hash.update(part);
    held.push(part);
    heldBytes += part.length;
    if (heldBytes < CHUNK_BYTES) continue;
    yield Buffer.concat(held);
    held = [];
    heldBytes = 0;
  }
  yield Buffer.concat([...held, Buffer.from(hash.digest("hex"))]);
}

async function* partsOf(
  { id, script, input, timeoutMs, packages, files, messages, cells, shownBytes }: ScriptJob,
  { keepBytes, tailBytes = 0, endBy, layer }: EncodeJobOptions,
): AsyncGenerator<Buffer> {
  const scriptBytes = Buffer.from(script);
  const inputBytes = input === undefined ? undefined : Buffer.from(input);
  const moduleBytes = messages === undefined ? undefined : Buffer.from(messages.module);
  const given = (files?.given ?? []).map((file) => ({
    file,
    head: Buffer.from(`${JSON.stringify({ path: file.name, bytes: file.size, executable: false })}\n`),
  }));
  const header = {
    job: id,
    timeoutMs: whole(timeoutMs),
    withinMs: endBy === undefined ? null : whole(endBy - performance.now()),
    packages: packages?.key ?? null,
    packagesBytes: layer?.bytes ?? null,
    scriptBytes: scriptBytes.length,
    inputBytes: inputBytes?.length ?? null,
    ...(moduleBytes === undefined ? {} : { moduleBytes: moduleBytes.length }),
    ...(cells === undefined ? {} : { cells: true }),
    ...(files === undefined ? {} : { outFiles: whole(files.mostFiles), outBytes: whole(files.mostBytes) }),
    ...(given.length === 0
      ? {}
      : { filesBytes: given.reduce((sum, { file, head }) => sum + head.length + file.size, 0) }),
    ...(shownBytes === undefined ? {} : { shownBytes: whole(shownBytes) }),
    keepBytes: whole(keepBytes),
    tailBytes: whole(tailBytes),
  };
  yield Buffer.from(`${JSON.stringify(header)}\n`);
  yield scriptBytes;
  if (inputBytes !== undefined) yield inputBytes;
  if (moduleBytes !== undefined) yield moduleBytes;
  for (const { file, head } of given) {
    yield head;
    yield* file.read();
  }
  if (layer !== undefined) yield* layer.chunks();
}
