/** Taps on a phone and records each tap, so that a test can count them. */
import type { Locator } from 'playwright-core';
import type { PageOptions } from './watched-page.ts';

/** A common phone. */
export const PHONE: PageOptions = { viewport: { width: 390, height: 844 }, isTouched: true };

export class Finger {
  readonly taps: string[] = [];

  /** Taps an element and adds `what` to `taps`. */
  async tap(what: string, where: Locator): Promise<void> {
    await where.tap();
    this.taps.push(what);
  }
}
