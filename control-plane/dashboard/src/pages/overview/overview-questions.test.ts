import { describe, expect, test } from '@jest/globals';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { choosableNodes, figuresOf, logPathOf } from './overview-questions.ts';

const nodesOf = (...names: readonly string[]): AnswerOf<'GET /nodes'> =>
  names.map((node) => ({ node })) as unknown as AnswerOf<'GET /nodes'>;

describe('figuresOf()', () => {
  test('asks for all nodes as the page does ahead of its code, and for one by its name', () => {
    expect(figuresOf('24h', '')).toEqual(figuresOf('24h'));
    expect(figuresOf('24h').query).not.toHaveProperty('node');
    expect(figuresOf('1h', 'attic').query).toMatchObject({ period: '1h', node: 'attic' });
  });
});

describe('logPathOf()', () => {
  test('keeps the chosen node', () => {
    const fields = { domain: 'a&b.example', period: '1h' };
    expect(logPathOf(fields, '')).toBe('/queries?domain=a%26b.example&period=1h');
    expect(logPathOf(fields, 'attic')).toBe('/queries?domain=a%26b.example&period=1h&node=attic');
  });
});

describe('choosableNodes()', () => {
  test('are in order where there are several, and none where there is one', () => {
    expect(choosableNodes(nodesOf('edge', 'attic'), '')).toEqual(['attic', 'edge']);
    expect(choosableNodes(nodesOf('attic'), '')).toEqual([]);
  });

  test('have the one that the address names, so that it can be left', () => {
    expect(choosableNodes([], 'attic')).toEqual(['attic']);
    expect(choosableNodes(nodesOf('edge'), 'attic')).toEqual(['attic', 'edge']);
  });
});
