import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { checkPage } from './check-page.ts';

const { html, contentPolicy } = checkPage({ nodeName: '<b>n' });
const script = /<script>([^]*)<\/script>/.exec(html)![1]!;

/** Runs the script with this answer to every look; resolves with what the page says then. */
async function shown(looks: () => unknown): Promise<{ text: string; asked: string[]; hidden: boolean }> {
  const result = { textContent: '' };
  const more = { hidden: true };
  const asked: string[] = [];
  const answers: Record<string, () => unknown> = {
    'POST /check/probes': () => ({ id: 'a/b', name: 'x.probe.weir.test' }),
    'GET /check/probes/a%2Fb': looks,
  };
  await new Promise<void>((resolve) => {
    Object.defineProperty(result, 'textContent', {
      set(text: string) {
        asked.push(`says ${text}`);
        setImmediate(resolve);
      },
    });
    runInNewContext(script, {
      document: { getElementById: (id: string) => (id === 'result' ? result : more) },
      location: { protocol: 'https:' },
      setTimeout: (work: () => void) => setImmediate(work),
      fetch: async (url: string, { method = 'GET' }: { method?: string }) => {
        asked.push(`${method} ${url}`);
        const answer = answers[`${method} ${url}`];
        if (answer === undefined) throw new TypeError('no such name');
        const body = answer();
        return { ok: typeof body !== 'number', status: body, json: async () => body };
      },
    });
  });
  return { text: asked.at(-1)!, asked, hidden: more.hidden };
}

describe('checkPage()', () => {
  test('permits its own script and style, this server and the names of probes, and nothing else', () => {
    const hash = createHash('sha256').update(script).digest('base64');
    expect(contentPolicy).toContain(`script-src 'sha256-${hash}'`);
    expect(contentPolicy).toContain("connect-src 'self' http://*.probe.weir.test https://*.probe.weir.test");
    expect(contentPolicy).toContain("default-src 'none'");
    expect(html).toContain('&#60;b&#62;n');
  });

  test('makes a probe, looks its name up, and says who asked', async () => {
    const seen = {
      asked: true,
      node: 'n',
      client: '192.0.2.7',
      protocol: 'udp',
      asked_at: '2026-01-15T12:00:00Z',
    };
    const { text, asked } = await shown(() => seen);
    expect(asked.slice(0, 3)).toEqual([
      'POST /check/probes',
      'GET https://x.probe.weir.test/',
      'GET /check/probes/a%2Fb',
    ]);
    expect(text).toMatch(/^says Yes\. n was asked by 192\.0\.2\.7 over UDP at /);
  });

  test('gives reasons where no question came', async () => {
    const { text, hidden } = await shown(() => ({ asked: false }));
    expect([text, hidden]).toEqual(['says No, as far as this check can tell.', false]);
  });

  test('says what went wrong', async () => {
    expect((await shown(() => 429)).text).toContain('too many checks');
  });
});
