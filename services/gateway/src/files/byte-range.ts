import { ToolError } from "@rockbot/contracts";
import { HttpErrorCode } from "../http/http-error.ts";

/** A part of a file: from one byte up to, and without, another. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
  /** False if it is the whole, as the request asks for no part that we give. */
  readonly isPart: boolean;
}

/**
 * Reads a header `Range` of one part, in any of its forms. Others count for nothing, as RFC 9110 allows.
 * @throws {ToolError} if the file has no such part
 */
export function rangeOf(header: string | undefined, size: number): ByteRange {
  const [, from = "", to = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "") ?? [];
  if ((from === "" && to === "") || (from !== "" && to !== "" && Number(to) < Number(from)))
    return { start: 0, end: size, isPart: false };
  const start = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === "" || to === "" ? size : Math.min(size, Number(to) + 1);
  if (start < end) return { start, end, isPart: true };
  throw new ToolError(
    HttpErrorCode.RangeNotSatisfiable,
    `Cannot give this part of the file: it has ${size} bytes. Ask for a part of these`,
  );
}
