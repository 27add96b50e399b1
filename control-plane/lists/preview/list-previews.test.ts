/** Previews of lists over real HTTP, which a real thread compares with the active lists of a real database. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ListPreview } from '../../../shared/api/lists/list-preview-api.ts';
import { serveLists } from '../../../test/support/parts/list-suite.ts';
import { blocklist, type ListNode, type RunningLists } from '../../../test/support/parts/running-lists.ts';
import { within } from '../../../test/support/parts/until.ts';
import { CompilePool } from '../../policy/compile/table/compile-pool.ts';
import { FETCH_LIMITS } from '../fetch/fetch-limits.ts';
import { ListPreviews } from './list-previews.ts';

const never = new AbortController().signal;
let running: RunningLists;
let pool: CompilePool;

serveLists((opened) => (running = opened));
beforeEach(() => {
  pool = new CompilePool();
});
afterEach(() => pool.close());

function previewsOf(node: ListNode, limits = FETCH_LIMITS): ListPreviews {
  return new ListPreviews({
    cache: node.cache,
    pool,
    limits,
    current: () => node.publisher.current(),
    listDirs: () => [],
    bounds: { localDomain: () => '', ownPorts: () => new Set() },
  });
}

/** A node with active lists of these names and texts, and the ids of the lists. */
async function nodeWith(lists: Readonly<Record<string, string>>): Promise<[ListNode, number[]]> {
  const node = await running.startNode();
  const ids: number[] = [];
  for (const [name, text] of Object.entries(lists)) {
    const { id } = await node.life.create({ ...blocklist(running.serve(`/${name}`, text)), name });
    ids.push(id);
  }
  await node.life.idle();
  return [node, ids];
}

describe('a preview of a list', () => {
  test('shows the size of a list and the lines that could not be read, and stores nothing', async () => {
    const [node] = await nodeWith({});
    const lines = [
      '||a.example^',
      '||a.example^',
      '0.0.0.0 b.example c.example',
      '^',
      'x##.ad',
      '/ads[0-9]+x/',
    ];
    const url = running.serve('/new', lines.join('\n'));
    const preview = await previewsOf(node).preview('block', { url, subdomains: false }, never);
    expect(() => ListPreview.parse(preview)).not.toThrow();
    expect(preview).toMatchObject({
      bytes: lines.join('\n').length,
      names: 3,
      rules: 4,
      invalid_lines: 1,
      skipped_lines: 1,
      covered: 0,
      overlaps: [],
    });
    expect(preview.unused.map(({ line }) => line)).toEqual([4, 5]);
    expect(running.copies()).toEqual([]);
    expect(await node.life.list()).toEqual([]);
  });

  test('counts rules that active lists also have, for the name or a parent, and names these lists', async () => {
    const [node, [one, two, off]] = await nodeWith({
      one: '||wide.example^\nexact.example\n||tracker*.example^\n',
      two: 'exact.example\nother.example\n',
      off: 'new.example\n',
    });
    await node.life.update(off!, { enabled: false });
    const text = [
      ...['a.wide.example', 'wide.example', '||exact.example^', 'exact.example'],
      ...['new.example', '||tracker*.example^', '@@wide.example'],
    ];
    const url = running.serve('/new', text.join('\n'));
    const preview = await previewsOf(node).preview('block', { url, subdomains: false }, never);
    // exact.example has only an exact rule, no list allows a name, and the disabled list does not count.
    expect(preview).toMatchObject({ rules: 7, covered: 4 });
    expect(preview.overlaps).toEqual([
      { id: one, name: 'one', rules: 4 },
      { id: two, name: 'two', rules: 1 },
    ]);
  });

  test('reads plain names as rules for their subdomains if requested', async () => {
    const [node, [wide]] = await nodeWith({ wide: 'a.example\n' });
    const url = running.serve('/new', 'a.example\n');
    const previews = previewsOf(node);
    const exact = await previews.preview('block', { url, subdomains: false }, never);
    const below = await previews.preview('block', { url, subdomains: true }, never);
    expect([exact.overlaps, below.overlaps]).toEqual([[{ id: wide, name: 'wide', rules: 1 }], []]);
  });

  test('refuses content that is not a list, with the reason at the field "url"', async () => {
    const [node] = await nodeWith({});
    const previews = previewsOf(node);
    const faultOf = async (url: string): Promise<string> => {
      const refused = previews.preview('block', { url, subdomains: false }, never);
      const error = await refused.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ status: 400, fields: [{ path: 'url' }] });
      return (error as { fields: { message: string }[] }).fields[0]!.message;
    };
    expect(await faultOf(running.serve('/page', '<!doctype html><title>x</title>'))).toMatch(/HTML/);
    expect(await faultOf(running.serve('/none', 'x##.ad\n'))).toMatch(/none of its 1 rules/);
    expect(await faultOf(running.urlOf('/gone'))).toMatch(/answered 404/);
    expect(await faultOf('file:///etc/passwd')).toMatch(/list_dirs/);
    const small = previewsOf(node, { ...FETCH_LIMITS, textBytes: 10 });
    const url = running.serve('/large', 'a.example\nb.example\n');
    await expect(small.preview('block', { url, subdomains: false }, never)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/larger than 10 bytes/),
    });
    expect(running.copies()).toEqual([]);
  });

  test('ends when its client disconnects, and the next preview starts', async () => {
    const [node] = await nodeWith({});
    const gone = new AbortController();
    const url = running.serveBy('/slow', (_request, response) => {
      response.writeHead(200);
      response.write('a.example\n', () => gone.abort(new Error('left')));
    });
    const previews = previewsOf(node);
    const first = previews.preview('block', { url, subdomains: false }, gone.signal);
    const next = previews.preview(
      'block',
      { url: running.serve('/b', 'b.example\n'), subdomains: false },
      never,
    );
    await expect(within('the end of the preview', first)).rejects.toThrow('left');
    await expect(next).resolves.toMatchObject({ names: 1 });
    expect(running.copies()).toEqual([]);
  });

  test('is refused while other previews run and wait', async () => {
    const [node] = await nodeWith({});
    const previews = previewsOf(node);
    const url = running.serve('/a', 'a.example\n');
    const run = (): Promise<unknown> => previews.preview('block', { url, subdomains: false }, never);
    const first = [run(), run(), run()];
    await expect(run()).rejects.toMatchObject({ status: 503, code: 'busy' });
    await Promise.all(first);
  });
});
