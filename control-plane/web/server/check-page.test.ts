import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { checkPage } from './check-page.ts';
import { CHECK_NAMES } from './check-script.ts';
import { CHECK_LANGUAGES, CHECK_TEXTS } from './check-texts/languages.ts';
import type { CheckLanguage } from './check-texts/languages.ts';

const pageIn = (language: CheckLanguage, canAsk = false) =>
  checkPage({ nodeName: '<b>n', canAsk }, { language, address: null });
const { html, contentPolicy } = pageIn('en');
const [choices, script] = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(([, text]) => text!);

const COMPUTER = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36';
const V4 = { client: '192.0.2.7', protocol: 'udp', queries: 1 };
const V6 = { client: 'fd00::7', protocol: 'tcp', queries: 2 };

interface Reader {
  readonly agent?: string;
  readonly address?: string;
  readonly language?: CheckLanguage;
  /** Status of every response. */
  readonly status?: number;
}

interface Shown {
  readonly verdict: string;
  readonly requests: readonly string[];
  /** Text of the element with this id; empty if it is hidden. */
  readonly text: (id: string) => string;
}

/** Runs the script like a browser; `askersOf` returns the clients that queried the name with this index. */
async function shown(askersOf: (index: number) => readonly object[], reader: Reader = {}): Promise<Shown> {
  const { agent = COMPUTER, address = '', language = 'en', status = 200 } = reader;
  const places: Record<string, { textContent: string; hidden: boolean; dataset: object }> = {};
  const placeOf = (id: string) => (places[id] ??= { textContent: '', hidden: true, dataset: {} });
  Object.assign(placeOf('check').dataset, {
    node: 'n',
    address,
    texts: JSON.stringify(CHECK_TEXTS[language]),
  });
  const requests: string[] = [];
  let made = 0;
  const answerTo = (request: string): unknown => {
    if (request === 'POST check/probes')
      return { id: `id/${String(made)}`, name: `x${String(made++)}.probe.weir.test` };
    const index = /^GET check\/probes\/id%2F(\d)$/.exec(request)?.[1];
    if (index === undefined) throw new TypeError('no such name');
    const askers = askersOf(Number(index));
    return { asked: askers.length > 0, askers };
  };
  const verdict = await new Promise<string>((resolve) => {
    // The script sets the texts in the same turn of the event loop.
    const set = (text: string): void => void setImmediate(() => resolve(text));
    Object.defineProperty(placeOf('check').dataset, 'verdict', { set });
    runInNewContext(script!, {
      document: {
        getElementById: (id: string) => (id === 'ask' ? null : placeOf(id)),
        documentElement: { dataset: {} },
      },
      location: { protocol: 'https:' },
      navigator: { userAgent: agent, maxTouchPoints: 0 },
      setTimeout: (work: () => void) => setImmediate(work),
      fetch: async (url: string, { method = 'GET' }: { method?: string }) => {
        requests.push(`${method} ${url}`);
        const body = answerTo(`${method} ${url}`);
        return { ok: status === 200, status, json: async () => body };
      },
    });
  });
  const text = (id: string): string => (placeOf(id).hidden ? '' : placeOf(id).textContent);
  return { verdict, requests, text };
}

describe('checkPage(), the page that tests whether a device uses Weir,', () => {
  test('allows its own scripts and style, this server and the probe names, and nothing else', () => {
    const hashes = [choices, script].map(
      (text) => `'sha256-${createHash('sha256').update(text!).digest('base64')}'`,
    );
    expect(contentPolicy).toContain(`script-src ${hashes.join(' ')};`);
    expect(contentPolicy).toContain("connect-src 'self' http://*.probe.weir.test https://*.probe.weir.test");
    expect(contentPolicy).toContain("default-src 'none'");
    expect(html).toContain('&#60;b&#62;n');
    expect(html).not.toMatch(/(?:href|src)="\/|fetch\('\//);
  });

  test.each(CHECK_LANGUAGES)('contains every text in the language %s', (language) => {
    const page = pageIn(language).html;
    const { title, steps, guides } = CHECK_TEXTS[language];
    expect(page).toContain(`<html lang="${language}"`);
    for (const text of [title, guides, ...steps.filter((step) => !/["'&]/.test(step))])
      expect(page).toContain(text);
    const english = Object.entries(CHECK_TEXTS.en).flatMap(([key, text]) => [[key, placesIn(String(text))]]);
    const own = Object.entries(CHECK_TEXTS[language]).flatMap(([key, text]) => [
      [key, placesIn(String(text))],
    ]);
    expect(own).toEqual(english);
  });

  test.each(CHECK_LANGUAGES)(
    'offers to request unblocking of a name in the language %s if such requests are enabled',
    (language) => {
      const { askTitle, askButton } = CHECK_TEXTS[language];
      expect(pageIn(language).html).not.toContain('id="askForm"');
      for (const text of ['id="askForm"', askTitle, askButton])
        expect(pageIn(language, true).html).toContain(text);
    },
  );

  test('looks up several probe names, and reports success if all queries arrived', async () => {
    const { verdict, requests, text } = await shown(() => [V4]);
    expect(requests.slice(0, 4)).toEqual([
      'POST check/probes',
      'GET https://x0.probe.weir.test/',
      'POST check/probes',
      'GET https://x1.probe.weir.test/',
    ]);
    expect([verdict, text('result'), text('detail')]).toEqual([
      'all',
      'This computer uses Weir',
      `All ${CHECK_NAMES} test names were queried at n.`,
    ]);
    expect([text('IPv4'), text('IPv6')]).toEqual(['6 of 6 names, from 192.0.2.7 (UDP)', 'no name']);
    expect(text('familyNote')).toBe(
      'No query came over IPv6, and none is missing: every name was queried over IPv4.',
    );
    expect(text('limits')).not.toBe('');
  });

  test('reports a second DNS server if only some queries arrived', async () => {
    const { verdict, text } = await shown((index) => (index % 2 === 0 ? [V6] : []), { language: 'de' });
    expect([verdict, text('result')]).toEqual(['some', 'Dieser Computer benutzt Weir nicht immer']);
    expect(text('detail')).toMatch(/^Nur 3 von 6 Testnamen wurden bei n angefragt\./);
    expect([text('IPv4'), text('IPv6')]).toEqual(['kein Name', '3 von 6 Namen, von fd00::7 (TCP)']);
    expect(text('familyNote')).toContain('vielleicht eine IPv4-Adresse');
  });

  test('counts the probe names for IPv4 and IPv6 separately', async () => {
    const { verdict, text } = await shown((index) => (index < 2 ? [V4, V6] : [V4]));
    expect([verdict, text('familyNote')]).toEqual(['all', '']);
    expect([text('IPv4'), text('IPv6')]).toEqual([
      '6 of 6 names, from 192.0.2.7 (UDP)',
      '2 of 6 names, from fd00::7 (TCP)',
    ]);
  });

  test('reports that no query arrived at this node', async () => {
    const { verdict, text } = await shown(() => []);
    expect([verdict, text('result')]).toEqual(['none', 'This computer does not use Weir on n']);
    expect([text('familyNote'), text('senderNote'), text('limits')]).toEqual(['', '', '']);
  });

  test.each([
    ['its own address', '192.0.2.7', /^$/],
    ['another address of IPv4', '192.0.2.8', /came from 192\.0\.2\.7, but .* from 192\.0\.2\.8\./],
    ['an address of IPv6', 'fd00::8', /^If these are not addresses of this device/],
    ['an unknown address', '', /^If these are not addresses of this device/],
  ])('reports a DNS server between device and Weir, if opened from %s', async (_from, address, note) => {
    expect((await shown(() => [V4], { address })).text('senderNote')).toMatch(note);
  });

  test.each([
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Mobile/15E148', 'phone'],
    ['Mozilla/5.0 (Linux; Android 16; K) Chrome/140.0 Mobile Safari/537.36', 'phone'],
    ['Mozilla/5.0 (Linux; Android 16; K) Chrome/140.0 Safari/537.36', 'tablet'],
    ['Mozilla/5.0 (SMART-TV; Linux; Tizen 8.0) Safari/537.36', 'device'],
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) Firefox/145.0', 'computer'],
  ])('for the user agent %s calls the device a %s', async (agent, kind) => {
    expect((await shown(() => [V4], { agent })).text('result')).toBe(`This ${kind} uses Weir`);
  });

  test.each([
    [429, 'Too many checks from this network. Try again in a minute.'],
    [503, 'Weir did not answer (503). Try again.'],
  ])('reports that the check failed with status %i', async (status, text) => {
    const failed = await shown(() => [], { status });
    expect([failed.verdict, failed.text('detail')]).toEqual(['failed', text]);
  });
});

/** Placeholders in a text. */
function placesIn(text: string): string[] {
  return [...new Set(text.match(/\{\w+\}/g))].sort();
}
