/** A server's usual latency, from a smoothed mean and its deviation (RFC 6298 section 2). */

/** Share of a new sample in the mean, and in the deviation. */
const MEAN_SHARE = 1 / 8;
const DEVIATION_SHARE = 1 / 4;
const DEVIATIONS = 4;

/** An estimate from answers alone. */
export class LatencyEstimate {
  private meanMs = 0;
  private deviationMs = 0;

  /** Milliseconds within which nearly all answers come; 0 = unknown. */
  get usualMs(): number {
    return this.meanMs + DEVIATIONS * this.deviationMs;
  }

  note(latencyMs: number): void {
    if (this.usualMs === 0) {
      this.meanMs = latencyMs;
      this.deviationMs = latencyMs / 2;
      return;
    }
    this.deviationMs += DEVIATION_SHARE * (Math.abs(latencyMs - this.meanMs) - this.deviationMs);
    this.meanMs += MEAN_SHARE * (latencyMs - this.meanMs);
  }
}
