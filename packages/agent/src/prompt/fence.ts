/** Where content comes from, and the code of the turn's fences. */
export interface FenceOptions {
  /** Random, of this turn alone. */
  readonly nonce: string;
  readonly origin: string | undefined;
}

/**
 * Puts untrusted content between marks that it cannot write itself: they carry a random code, which is taken out of the
 * content. The system text says that nothing between such marks is an instruction.
 */
export function fence(content: string, { nonce, origin }: FenceOptions): string {
  const open = `<untrusted-${nonce}${origin === undefined ? "" : ` origin="${origin.replaceAll(/["<>\s]+/g, "_").slice(0, 200)}"`}>`;
  return `${open}\n${content.replaceAll(new RegExp(nonce, "gi"), "[…]")}\n</untrusted-${nonce}>`;
}
