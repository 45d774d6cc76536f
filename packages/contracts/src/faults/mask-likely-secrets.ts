/** Runs of characters that tokens are made of. */
const RUN = /[A-Za-z0-9+/_=-]{24,}/g;
/** Letters and digits without a word between them. */
const UNBROKEN = /[A-Za-z0-9]{24,}/;
const MIN_DIGITS = 3;
/**
 * In random base64 nearly two of three characters differ in kind from the one before, in names with humps fewer than
 * one in three.
 */
const MIN_CHANGES = 0.35;

/**
 * A text without what may be a secret put in the wrong place: long runs of hex or base64. A run is masked as a whole,
 * so that no part of it is left; about one random text in a thousand looks like words. Hashes and ids look the same,
 * and are masked, too: for faults, which are read by more people than what they are about.
 */
export const maskLikelySecrets = (text: string): string =>
  text.replace(RUN, (run) => (isLikelySecret(run) ? `[${run.length} characters that may be a secret]` : run));

function isLikelySecret(run: string): boolean {
  const signs = run.replace(/[^A-Za-z0-9]/g, "");
  const kinds = [...signs].map((sign) => (sign <= "9" ? 0 : sign <= "Z" ? 1 : 2));
  const changes = kinds.filter((kind, at) => at > 0 && kind !== kinds[at - 1]).length;
  if (changes >= MIN_CHANGES * signs.length) return true;
  return (
    UNBROKEN.test(run) && kinds.some((kind) => kind > 0) && kinds.filter((kind) => kind === 0).length >= MIN_DIGITS
  );
}
