// All of css-tree in one file: its modules read the grammars of CSS beside themselves, which a bundle leaves behind.

declare module "css-tree/dist/csstree.esm" {
  export * from "css-tree";
}

// The package has types, and does not name them in its exports.

declare module "@bramus/specificity" {
  const specificities: {
    calculateForAST(selector: object): { readonly a: number; readonly b: number; readonly c: number };
  };

  // biome-ignore lint/style/noDefaultExport: the package has no other.
  export { specificities as default };
}
