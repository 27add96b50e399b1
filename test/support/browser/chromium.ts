/**
 * The machine's browser, driven over its own protocol: Debian's `chromium-headless-shell`, or else `chromium`.
 *
 * @needs chromium
 */
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { PROBE_ZONE } from '../../../shared/dns/probe-zone.ts';
import { CHROMIUM, requireProgram } from '../parts/programs.ts';

/** Another host name for Weir in the browser, to load pages as from a plain network, in an insecure context. */
export const LAN_NAME = 'weir.home.arpa';

/** Starts a separate browser, without a profile; the caller closes it. */
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
