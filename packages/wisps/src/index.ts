export { type KeptWisp, wispToolOf } from "./pipeline/kept-wisp.ts";
export { wispHash } from "./saved/wisp-hash.ts";
export { type WispsOptions, wisps } from "./wisps.ts";
