import { remembered } from "@rockbot/base";
import { stemmer } from "stemmer";

const MEMO = 20_000;
const stemOf = remembered((word) => ({ stem: stemmer(word) }), MEMO);

/** An English word in lower case without its endings, by Porter's algorithm. */
export const stem = (word: string): string => stemOf(word).stem;
