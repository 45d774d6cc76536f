/** Differences that a computer sees and a hasty reader does not. */
const ALIKE: readonly (readonly [RegExp, string])[] = [
  [/[^a-z0-9]/g, ""],
  [/0/g, "o"],
  [/[1|!ij]/g, "l"],
  [/3/g, "e"],
  [/5/g, "s"],
  [/8/g, "b"],
  [/rn/g, "m"],
  [/vv/g, "w"],
];

const skeleton = (name: string): string =>
  ALIKE.reduce((text, [pattern, letter]) => text.replace(pattern, letter), name.toLowerCase());

/** The one of `names` that a name could be taken for, itself included. */
export function lookAlike(name: string, names: Iterable<string>): string | undefined {
  const own = skeleton(name);
  for (const other of names) if (skeleton(other) === own) return other;
  return undefined;
}
