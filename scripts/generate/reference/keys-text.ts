import type { RedisKeys } from "@rockbot/services";
import { code } from "../fill-page.ts";

/** Keys in Redis in a cell of a table. */
export const keysText = ({ keys, isReadOnly }: RedisKeys): string => `${code(keys)}${isReadOnly ? " (read only)" : ""}`;
