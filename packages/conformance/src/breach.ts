/** A service does not keep a clause. The message says what was asked, and what came. */
export class Breach extends Error {
  override readonly name = "Breach";
}

/** A case cannot be tried with this service or these tools. */
export class NotTried extends Error {
  override readonly name = "NotTried";
}

/** @throws {Breach} unless it is so */
export function must(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Breach(otherwise);
}
