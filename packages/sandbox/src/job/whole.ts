/** Makes a number fit for a frame: whole, not below zero, and exact on both sides. */
export function whole(value: number): number {
  return Number.isNaN(value) ? 0 : Math.min(Math.max(Math.round(value), 0), Number.MAX_SAFE_INTEGER);
}
