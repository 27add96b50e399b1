/** Stands for the device that the browser runs on: looks up the names of probes that its pages make. */
import type { Page, Response } from 'playwright-core';
import { UdpClient } from '../dns/dns-client.ts';

/** Asks for the name with this number, counted from 0. */
export type LookUp = (name: string, index: number) => Promise<unknown>;

/** Looks up each name that a page of the browser's context is given from now on. */
export function lookUpProbes(page: Page, lookUp: LookUp): void {
  let made = 0;
  page.context().on('response', (response: Response) => {
    if (response.request().method() !== 'POST' || !response.url().endsWith('/probes')) return;
    const index = made++;
    const ask = async (): Promise<void> => {
      const { name } = (await response.json()) as { name: string };
      await lookUp(name, index);
    };
    // The page is gone: so is its check.
    ask().catch(() => undefined);
  });
}

/** Asks Weir over IPv4 from an address of the loopback. */
export async function askOver4(port: number, name: string, from = '127.0.0.41'): Promise<void> {
  using device = await UdpClient.open(port, '127.0.0.1', from);
  await device.ask(name, 'A');
}

/** Asks Weir over IPv6. */
export async function askOver6(port: number, name: string): Promise<void> {
  using device = await UdpClient.open(port, '::1', '::1');
  await device.ask(name, 'AAAA');
}
