/** Stands in for the device of the browser: resolves the probe names that its pages generate. */
import type { Page, Response } from 'playwright-core';
import { UdpClient } from '../dns/dns-client.ts';

/** Queries a probe name; `index` is its index, from 0. */
export type LookUp = (name: string, index: number) => Promise<unknown>;

/** Resolves each probe name that a page of the browser context receives from now on. */
export function lookUpProbes(page: Page, lookUp: LookUp): void {
  let made = 0;
  page.context().on('response', (response: Response) => {
    if (response.request().method() !== 'POST' || !response.url().endsWith('/probes')) return;
    const index = made++;
    const ask = async (): Promise<void> => {
      const { name } = (await response.json()) as { name: string };
      await lookUp(name, index);
    };
    // The page was closed, so its check has ended.
    ask().catch(() => undefined);
  });
}

/** Queries Weir over IPv4 from a loopback address. */
export async function askOver4(port: number, name: string, from = '127.0.0.41'): Promise<void> {
  using device = await UdpClient.open(port, '127.0.0.1', from);
  await device.ask(name, 'A');
}

/** Queries Weir over IPv6. */
export async function askOver6(port: number, name: string): Promise<void> {
  using device = await UdpClient.open(port, '::1', '::1');
  await device.ask(name, 'AAAA');
}
