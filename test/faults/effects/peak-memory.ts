/** The most memory that this process has had resident, in MB. */
export const peakMemoryMb = (): number => Math.round(process.resourceUsage().maxRSS / 1_000);
