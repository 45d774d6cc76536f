// All of css-tree in one file: its modules read the grammars of CSS beside themselves, which a bundle leaves behind.

declare module "css-tree/dist/csstree.esm" {
  export * from "css-tree";
}
