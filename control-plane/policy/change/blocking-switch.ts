/** The effect of the blocking state at a given time. Pure; `filtering/schedules/blocking-switch-store.ts` stores it. */
import type { BlockingSwitch } from './rows.ts';

/** Whether blocking is enabled: according to the stored state or, without one, the configuration. */
export function isBlockingEnabled(
  blockingSwitch: BlockingSwitch | null,
  configured: boolean,
  nowMs: number,
): boolean {
  if (blockingSwitch === null) return configured;
  return (isTimerOver(blockingSwitch, nowMs) ? blockingSwitch.before : blockingSwitch.enabled) ?? configured;
}

/** Source of the state: the configuration, or the state that a user has set. */
export function blockingSource(
  blockingSwitch: BlockingSwitch | null,
  nowMs: number,
): 'configuration' | 'switch' {
  if (blockingSwitch === null) return 'configuration';
  const isBack = isTimerOver(blockingSwitch, nowMs) && typeof blockingSwitch.before !== 'boolean';
  return isBack ? 'configuration' : 'switch';
}

function isTimerOver(blockingSwitch: BlockingSwitch, nowMs: number): boolean {
  return blockingSwitch.until !== null && timerEndMs(blockingSwitch, nowMs) === null;
}

/** Unix milliseconds at which the state ends; null if it has no timer or the timer has ended. */
export function timerEndMs(blockingSwitch: BlockingSwitch | null, nowMs: number): number | null {
  if (blockingSwitch === null || blockingSwitch.until === null) return null;
  const endMs = Date.parse(blockingSwitch.until);
  return endMs > nowMs ? endMs : null;
}
