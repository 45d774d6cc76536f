/** A text that may be long: what scrolls has to be reachable by keys. */
export const Pre = ({ children }: { readonly children: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
  <pre tabIndex={0}>{children}</pre>
);
