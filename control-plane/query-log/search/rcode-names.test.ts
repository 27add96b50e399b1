import { describe, expect, test } from '@jest/globals';
import { rcodeName } from '../../../shared/dns/iana.ts';
import { rcodeFromName } from './rcode-names.ts';

describe('rcodeFromName()', () => {
  test('reads what rcodeName() says, in any case', () => {
    for (const code of [0, 3, 5, 12, 16, 23, 4095])
      expect(rcodeFromName(rcodeName(code).toLowerCase())).toBe(code);
  });

  test.each(['', 'NONSENSE', 'RCODE', 'RCODE12345', 'RCODE1x', 'xRCODE1', 'toString'])(
    'knows no code of %j',
    (name) => expect(rcodeFromName(name)).toBeNull(),
  );
});
