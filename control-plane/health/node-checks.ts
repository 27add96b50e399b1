/** The other nodes, the clock and the user of the process, as checks of health. Pure. */
import type { HealthCheck } from '../../shared/api/system-api.ts';
import type { TroubledNode } from '../cluster/node-figures.ts';

/** Milliseconds by which the clocks of a node and of the database may differ. */
const CLOCK_MS = 2000;

/** What is known of the other nodes. */
export interface OtherNodes {
  /** Those that are silent or answer by an older policy. */
  readonly inTrouble: readonly TroubledNode[];
  /** Running nodes with another version than this one. */
  readonly otherVersions: readonly { readonly node: string; readonly version: string }[];
  /** Of this node. */
  readonly version: string;
}

/** Degraded while another node is in trouble, or runs another version. */
export function nodesCheck({ inTrouble, otherVersions, version }: OtherNodes): HealthCheck {
  const faults = inTrouble.map(
    ({ node, isSilent }) => `${node} ${isSilent ? 'is silent' : 'has an older policy'}`,
  );
  const others = otherVersions.map((other) => `${other.node} runs ${other.version}`);
  if (others.length > 0) faults.push(`versions differ: ${others.join(', ')}, this node ${version}`);
  return faults.length === 0 ? { status: 'ok' } : { status: 'degraded', detail: faults.join(', ') };
}

/** Degraded while the clock is wrong, or differs from that of the database; `aheadMs` null = not known. */
export function clockCheck(trouble: string | null, aheadMs: number | null): HealthCheck {
  if (trouble !== null) return { status: 'degraded', detail: trouble };
  if (aheadMs === null || Math.abs(aheadMs) <= CLOCK_MS) return { status: 'ok' };
  const secs = (Math.abs(aheadMs) / 1000).toFixed(1);
  const side = aheadMs > 0 ? 'ahead of' : 'behind';
  return { status: 'degraded', detail: `the clock is ${secs} s ${side} that of the database` };
}

/** Always ok: a process that stays root says so, as its log also says why. */
export function privilegesCheck(userId: number | undefined): HealthCheck {
  if (userId !== 0) return { status: 'ok' };
  return { status: 'ok', detail: 'Weir runs as root: its log says why, and what to do' };
}
