/** Why the text names no session of the agent; undefined if it does. */
export const sessionFault = (text: string): string | undefined =>
  /^[\x21-\x7e]{1,128}$/.test(text) ? undefined : "expected 1 to 128 visible ASCII characters";
