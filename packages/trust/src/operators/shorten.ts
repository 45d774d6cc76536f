import type { SeenTool } from "../pins/pin.ts";

/** An answer of this many characters, as JSON, goes over every bus. */
const MAX_LENGTH = 4 * 1024 * 1024;

/** An entry that may have the definitions that it is about. */
type Entry = object & { readonly definition?: SeenTool | undefined; readonly before?: SeenTool | undefined };

/**
 * Lists as an answer that is not too long. Entries that do not fit lose their definitions first: their changes in words
 * stay.
 * @returns the lists, and in `more` how many entries are left out
 */
export function shorten<Lists extends { readonly [Name in keyof Lists]: readonly object[] | undefined }>(
  lists: Lists,
): Lists & { readonly more: number } {
  let left = MAX_LENGTH;
  let more = 0;
  const fitting = (entry: Entry): readonly Entry[] => {
    const { definition: _, before: __, ...brief } = entry;
    const fits = [entry, brief].find((one) => JSON.stringify(one).length <= left);
    if (fits === undefined) more++;
    else left -= JSON.stringify(fits).length + 1;
    return fits === undefined ? [] : [fits];
  };
  const shortened = Object.entries<readonly object[] | undefined>(lists).map(([name, list = []]) => [
    name,
    list.flatMap(fitting),
  ]);
  return { ...(Object.fromEntries(shortened) as Lists), more };
}
