/**
 * A tab in the background. A headless browser never hides a tab, so the script makes the page report that it is hidden.
 */
import type { Page } from 'playwright-core';

/** Hides the page until it is closed. */
export async function hide(page: Page): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { get: () => true });
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  `);
}
