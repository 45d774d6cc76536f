import type { RedisKeys } from "@rockbot/services";
import { code } from "../fill-page.ts";

/** Keys in Redis in a cell of a table. */
export const keysText = ({ keys, access }: RedisKeys): string =>
  `${code(keys)}${access === "all" ? "" : ` (${access} only)`}`;
