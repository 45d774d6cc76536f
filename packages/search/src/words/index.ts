// To make words of texts, for indexes of other packages.

export { stem } from "./stem.ts";
export { tokenize } from "./tokenize.ts";
