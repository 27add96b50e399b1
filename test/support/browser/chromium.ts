/**
 * The machine's browser, driven over its own protocol: Debian's `chromium-headless-shell`, or else `chromium`.
 *
 * @needs chromium
 */
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { PROBE_ZONE } from '../../../shared/dns/probe-zone.ts';
import { CHROMIUM, requireProgram } from '../parts/programs.ts';

/** A name of Weir to the browser, so that a page is also seen as on a plain network, where a context is not secure. */
export const LAN_NAME = 'weir.home.arpa';

/** Starts a browser of its own, without a profile; the caller closes it. */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: requireProgram(...CHROMIUM),
    headless: true,
    // Its sandbox does not work for root, nor in most containers; it sees no page but ours.
    chromiumSandbox: false,
    // The names of probes are looked up by the test, as the device that it stands for.
    args: [`--host-resolver-rules=MAP ${LAN_NAME} 127.0.0.1,MAP *.${PROBE_ZONE} ~NOTFOUND`, '--disable-gpu'],
  });
}
