/**
 * What reads a policy file. It is loaded by this name, as a bundle in several files gives no names of a CommonJS
 * library that is loaded later.
 */
export { isNode, LineCounter, parseDocument } from "yaml";
