import { nearestName } from "@rockbot/contracts";
import type { Setting, Settings } from "./setting.ts";

/** One service's part of a file that several services share. */
export interface ConfigSection {
  /** The name at the file's top under which the service's settings stand. */
  readonly name: string;
  /** All names that may stand there. */
  readonly among: readonly string[];
}

/** Names that are settings elsewhere, in small letters at their beginning, and for each where that is. */
export type Elsewhere = Readonly<Record<string, string>>;

export const whereIs = (name: string, elsewhere: Elsewhere): string | undefined => {
  const small = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  return Object.hasOwn(elsewhere, small) ? elsewhere[small] : undefined;
};

/** The values that the section sets, out of the whole file. */
export function sectionOf(whole: Settings, { name, among }: ConfigSection, elsewhere: Elsewhere): Settings {
  const faults = [...whole.faults];
  let settings = new Map<string, Setting>();
  for (const [key, { value, source }] of whole.settings) {
    if (!among.includes(key)) {
      const nearest = nearestName(key, among);
      const help =
        whereIs(key, elsewhere) ??
        (nearest === undefined ? `known: ${among.join(", ")}` : `did you mean "${nearest}"?`);
      faults.push(`${source}: unknown section "${key.slice(0, 80)}": ${help}`);
    } else if (key === name && value !== null) {
      if (typeof value !== "object" || Array.isArray(value))
        faults.push(`${source}: the section "${name}": expected a mapping of names to values`);
      else
        settings = new Map(
          Object.entries(value).map(([property, it]) => [
            property,
            { value: it, source: `the section ${name} of ${source}` },
          ]),
        );
    }
  }
  return { settings, faults };
}
