/** Records of a kind that an operator is shown at most. */
export const MAX_LISTED = 10_000;
