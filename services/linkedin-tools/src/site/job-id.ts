/**
 * The number of a posting, which is at the end of its address, of its URN, or alone.
 * @returns undefined if there is none
 */
export function jobIdOf(text: string): string | undefined {
  const found =
    /^(\d{6,20})$/.exec(text) ??
    /jobPosting:(\d{6,20})/.exec(text) ??
    /[?&]currentJobId=(\d{6,20})/.exec(text) ??
    /\/(?:[^/?#]*-)?(\d{6,20})\/?(?:[?#]|$)/.exec(text);
  return found?.[1];
}

/** The address at which people read a posting. */
export const jobUrl = (id: string, baseUrl: string): string => new URL(`/jobs/view/${id}`, baseUrl).href;
