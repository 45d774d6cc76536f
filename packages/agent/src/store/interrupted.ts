/** What a session remembers in the place of an answer, if its process ended before there was one. */
export const INTERRUPTED =
  "(A restart interrupted this question before it was answered. Calls that were made for it may have run. Before you make one again, check whether it has run, or ask.)";
