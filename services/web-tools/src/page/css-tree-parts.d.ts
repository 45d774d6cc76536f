// The parts of css-tree that are used: its whole also loads the grammar of all properties, which takes longer than all else that a process for pages loads.

declare module "css-tree/parser" {
  import { parse } from "css-tree";

  // biome-ignore lint/style/noDefaultExport: it is what css-tree exports
  export default parse;
}

declare module "css-tree/generator" {
  import { generate } from "css-tree";

  // biome-ignore lint/style/noDefaultExport: it is what css-tree exports
  export default generate;
}
