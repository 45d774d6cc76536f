import { createHash } from "node:crypto";
import type { ScriptJob } from "../script-runner.ts";

/** A job as the supervisor reads it: see `frames.ts`. */
export function encodeJob({ id, script, input, timeoutMs, packages }: ScriptJob, { keepBytes }: { readonly keepBytes: number }): Buffer {
  const scriptBytes = Buffer.from(script);
  const inputBytes = input === undefined ? undefined : Buffer.from(input);
  const body = Buffer.concat(inputBytes === undefined ? [scriptBytes] : [scriptBytes, inputBytes]);
  const header = {
    job: id,
    timeoutMs,
    packages: packages?.key ?? null,
    scriptBytes: scriptBytes.length,
    inputBytes: inputBytes?.length ?? null,
    keepBytes,
    sha256: createHash("sha256").update(body).digest("hex"),
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body]);
}
