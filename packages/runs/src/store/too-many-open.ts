import { MAX_OPEN_BYTES, MAX_OPEN_RUNS } from "../run.ts";

/** Why a caller gets no further run, in words. */
export const tooManyOpen = (caller: string, service: string): string =>
  `"${caller}" has too many calls at "${service}" that wait for a person or run detached: at most ${MAX_OPEN_RUNS}, and ${MAX_OPEN_BYTES / 1024 ** 2} MiB of them`;
