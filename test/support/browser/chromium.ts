/**
 * The browser of the machine, headless: Debian's package `chromium`, driven over its own protocol.
 *
 * @needs chromium
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { PROBE_ZONE } from '../../../control-plane/probes/probes.ts';

/** What the program is called, by distribution. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
/** A name of Weir to the browser, so that a page is also seen as on a plain network, where a context is not secure. */
export const LAN_NAME = 'weir.home.arpa';

/** Starts a browser of its own, without a profile; the caller closes it. */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium(),
    headless: true,
    // Its sandbox does not work for root, nor in most containers; it sees no page but ours.
    chromiumSandbox: false,
    // The names of probes are looked up by the test, as the device that it stands for.
    args: [`--host-resolver-rules=MAP ${LAN_NAME} 127.0.0.1,MAP *.${PROBE_ZONE} ~NOTFOUND`, '--disable-gpu'],
  });
}

function findChromium(): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin'];
  const found = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
  if (found === undefined) throw new Error(`these tests need a browser: install the package ${NAMES[0]!}`);
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
