import { describe, expect, test } from '@jest/globals';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { choosableNodes, figuresOf, isRecent, logPathOf } from './overview-questions.ts';

const nodesOf = (...names: readonly string[]): AnswerOf<'GET /nodes'> =>
  names.map((node) => ({ node })) as unknown as AnswerOf<'GET /nodes'>;

describe('figuresOf()', () => {
  test('requests all nodes like the preloaded request, or one node by its name', () => {
    expect(figuresOf('24h', '')).toEqual(figuresOf('24h'));
    expect(figuresOf('24h').query).not.toHaveProperty('node');
    expect(figuresOf('1h', 'attic').query).toMatchObject({ period: '1h', node: 'attic' });
  });
});

describe('logPathOf()', () => {
  test('keeps the selected node', () => {
    const fields = { domain: 'a&b.example', period: '1h' };
    expect(logPathOf(fields, '')).toBe('/queries?domain=a%26b.example&period=1h');
    expect(logPathOf(fields, 'attic')).toBe('/queries?domain=a%26b.example&period=1h&node=attic');
  });
});

describe('choosableNodes()', () => {
  test('lists several nodes in order, or none if there is only one', () => {
    expect(choosableNodes(nodesOf('edge', 'attic'), '')).toEqual(['attic', 'edge']);
    expect(choosableNodes(nodesOf('attic'), '')).toEqual([]);
  });

  test('include the node in the URL, so that it can be deselected', () => {
    expect(choosableNodes([], 'attic')).toEqual(['attic']);
    expect(choosableNodes(nodesOf('edge'), 'attic')).toEqual(['attic', 'edge']);
  });
});

describe('isRecent()', () => {
  const refused = (lastRefused: string, isBlocked = false) => ({
    ...{ network: '203.0.113.0/24', last_client: '203.0.113.7', count: 1, is_blocked: isBlocked },
    ...{ first_refused: lastRefused, last_refused: lastRefused },
  });
  const nowMs = Date.parse('2026-01-15T12:00:00.000Z');

  test('omits networks that were refused long ago or are blocked', () => {
    expect(isRecent(refused('2026-01-14T12:00:01.000Z'), nowMs)).toBe(true);
    expect(isRecent(refused('2026-01-14T12:00:00.000Z'), nowMs)).toBe(false);
    expect(isRecent(refused('2026-01-15T11:59:59.000Z', true), nowMs)).toBe(false);
  });
});
