/** Share of a disk that is in use, 0 to 100, without the space reserved for root; null = unknown. */
export function usedPercent(freeBytes: number | null, sizeBytes: number | null): number | null {
  if (freeBytes === null || sizeBytes === null || sizeBytes === 0) return null;
  return Math.min(100, Math.max(0, (1 - freeBytes / sizeBytes) * 100));
}
