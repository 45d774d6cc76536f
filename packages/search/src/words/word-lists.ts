import kindsJson from "./kinds.json" with { type: "json" };
import stopWordsJson from "./stop-words.json" with { type: "json" };
import synonymsJson from "./synonyms.json" with { type: "json" };

/** Words of a line of a list. Two words that `_` joins have a blank. */
const wordsIn = (line: string): readonly string[] => line.split(" ").map((word) => word.replaceAll("_", " "));

/**
 * Words that say how somebody asks and not what for: those that English joins sentences with, and those that requests
 * begin with. They are left out of questions and documents. Words that name an action or a thing of any field are not
 * here.
 */
export const stopWords: ReadonlySet<string> = new Set(stopWordsJson.flatMap(wordsIn));

/**
 * Words that people and tools use for the same. A word of a question also finds the others of its classes, with less
 * weight. The classes are of whole fields of work and life: none is for one product's tools. A word may be in several
 * classes.
 */
export const synonymClasses: readonly (readonly string[])[] = synonymsJson.map(wordsIn);

/**
 * Words that stand for one of a kind, and the words that tools use for the kind: `euros` finds `currency`, and not the
 * other way round. The kinds are of whole fields of work and life, as the classes of synonyms are; well-known names
 * stand for their kind.
 */
export const kinds: readonly { readonly words: readonly string[]; readonly kind: readonly string[] }[] = Object.entries(
  kindsJson,
).map(([words, kind]) => ({ words: wordsIn(words), kind: wordsIn(kind) }));
