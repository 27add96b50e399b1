/**
 * The machine's browser, driven over its own protocol: Debian's `chromium-headless-shell`, or `chromium` if that is not
 * installed.
 *
 * @needs chromium
 */
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { PROBE_ZONE } from '../../../shared/dns/probe-zone.ts';
import { CHROMIUM, requireProgram } from '../parts/programs.ts';

/** A second host name for Weir in the browser, to load pages in an insecure context, as from a plain network. */
export const LAN_NAME = 'weir.home.arpa';

/** Starts a separate browser without a profile; the caller closes it. */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: requireProgram(...CHROMIUM),
    headless: true,
    // The sandbox does not work for root, nor in most containers. The browser loads only Weir's pages.
    chromiumSandbox: false,
    // The test, standing in for the device, resolves the probe names itself.
    args: [`--host-resolver-rules=MAP ${LAN_NAME} 127.0.0.1,MAP *.${PROBE_ZONE} ~NOTFOUND`, '--disable-gpu'],
  });
}
