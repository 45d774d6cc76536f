import { Pre } from "./pre.tsx";
import { visible } from "./visible.ts";

/** A stranger's text as it is, in a box that the keyboard scrolls, too. */
export const LongText = ({ text }: { readonly text: string }) => <Pre>{visible(text)}</Pre>;
