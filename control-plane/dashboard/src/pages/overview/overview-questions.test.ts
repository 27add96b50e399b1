import { describe, expect, test } from '@jest/globals';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { choosableNodes, figuresOf, logPathOf } from './overview-questions.ts';

const nodesOf = (...names: readonly string[]): AnswerOf<'GET /nodes'> =>
  names.map((node) => ({ node })) as unknown as AnswerOf<'GET /nodes'>;

describe('figuresOf(), the request for statistics,', () => {
  test('requests all nodes like the preloaded request, or one node by name', () => {
    expect(figuresOf('24h', '')).toEqual(figuresOf('24h'));
    expect(figuresOf('24h').query).not.toHaveProperty('node');
    expect(figuresOf('1h', 'attic').query).toMatchObject({ period: '1h', node: 'attic' });
  });
});

describe('logPathOf(), the link to the query log,', () => {
  test('keeps the selected node', () => {
    const fields = { domain: 'a&b.example', period: '1h' };
    expect(logPathOf(fields, '')).toBe('/queries?domain=a%26b.example&period=1h');
    expect(logPathOf(fields, 'attic')).toBe('/queries?domain=a%26b.example&period=1h&node=attic');
  });
});

describe('choosableNodes(), the nodes offered for selection,', () => {
  test('lists several nodes in order, or nothing if there is only one node', () => {
    expect(choosableNodes(nodesOf('edge', 'attic'), '')).toEqual(['attic', 'edge']);
    expect(choosableNodes(nodesOf('attic'), '')).toEqual([]);
  });

  test('includes the node in the URL even if it is unknown, so that it can be deselected', () => {
    expect(choosableNodes([], 'attic')).toEqual(['attic']);
    expect(choosableNodes(nodesOf('edge'), 'attic')).toEqual(['attic', 'edge']);
  });
});
