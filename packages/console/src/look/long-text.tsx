import { visible } from "./visible.ts";

/** A stranger's text as it is, in a box that the keyboard scrolls, too. */
export const LongText = ({ text }: { readonly text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keys, too
  <pre tabIndex={0}>{visible(text)}</pre>
);
