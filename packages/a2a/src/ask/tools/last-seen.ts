const MINUTE = 60_000;

/** How long ago a card was read, as models read it. @param readAt as `Date.now()` */
export function lastSeen(readAt: number | undefined, now = Date.now()): string {
  if (readAt === undefined) return "never";
  const minutes = Math.floor((now - readAt) / MINUTE);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes}m ago`;
  return minutes < 24 * 60 ? `${Math.floor(minutes / 60)}h ago` : `${Math.floor(minutes / (24 * 60))}d ago`;
}
