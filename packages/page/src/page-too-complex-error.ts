/** The page is more than is converted. The message says what it has too much of, as in "more than 5 nodes". */
export class PageTooComplexError extends Error {
  override readonly name = "PageTooComplexError";
}
