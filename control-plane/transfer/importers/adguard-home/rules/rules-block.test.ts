import { describe, expect, test } from '@jest/globals';
import { readYaml } from '../../files/read-tree.ts';
import { takeRules } from './rules-block.ts';

describe('takeRules()', () => {
  test('reads the same rules as a YAML parser, and does not change the rest of the file', () => {
    const rules = [
      "'||a.example^'",
      "'it''s'",
      '"tab\\t\\x41"',
      'plain.example',
      'plain.example # why',
      '0.0.0.0 hosts.example',
      '12',
      'true',
      'null',
      "''",
      '',
      '"" # empty',
      '/ads/',
    ];
    for (const indent of ['', '  ', '    ']) {
      const list = rules.map((rule) => `${indent}- ${rule}\n`).join('');
      const text = `dns:\n  port: 53\nuser_rules:\n${list}\n# end\nschema_version: 34\n`;
      const taken = takeRules(text)!;
      expect(taken.rules).toEqual(readYaml('x', Buffer.from(text)).texts('user_rules'));
      expect(readYaml('x', Buffer.from(taken.rest)).raw).toEqual({ dns: { port: 53 }, schema_version: 34 });
    }
  });

  test.each([
    'schema_version: 34\n',
    'user_rules: []\n',
    'user_rules: &rules\n  - a\n',
    'user_rules:\n  - a\n    b\n',
    "user_rules:\n  - 'a\n    b'\n",
    'user_rules:\n  - |\n    a\n',
    'user_rules:\n  - *x\n',
    'user_rules:\n  - [a]\n',
    'user_rules:\n  a: b\n',
  ])('returns null for %j, which only a YAML parser can read', (text) => {
    expect(takeRules(text)).toBeNull();
  });

  test('reads 300,000 rules', () => {
    const list = Array.from({ length: 300_000 }, (_, n) => `    - '||ads${n}.tracker.example^'\n`);
    expect(takeRules(`user_rules:\n${list.join('')}dns: {}\n`)).toMatchObject({
      rules: { length: 300_000 },
      rest: 'dns: {}\n',
    });
  });
});
