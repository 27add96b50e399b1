import { describe, expect, test } from '@jest/globals';
import { oddityOf } from './odd-rules.ts';

describe('oddityOf()', () => {
  test.each([
    'Plain.example',
    'dotted.example.',
    '0.0.0.0 Hosts.example',
    '0.0.0.0 dotted.example. other.example',
    '0.0.0.0 *.hosts.example',
    '||dotted.example.^',
    '@@||dotted.example.^',
    '|dotted.example.|',
    '|http://scheme.example^',
    String.raw`/^x\S+\.example$/`,
    '||Capital.example^$badfilter',
    '||x.example^$dnsrewrite=refused',
    '||x.example^$dnsrewrite=NOERROR;HTTPS;1 . ech=aGVsbG8=',
    '||x.example^$client=mom',
    "||x.example^$dnstype=A,client=~'MOM'",
  ])('reports %s', (line) => {
    expect(oddityOf(line, ['Mom'])).not.toBeNull();
  });

  test.each([
    'plain.example',
    '0.0.0.0 hosts.example',
    '::1 hosts.example',
    '||Capital.example^',
    '||x.example^$client=Mom',
    '||x.example^$client=127.0.0.1|Other',
    '||x.example^$dnsrewrite=REFUSED',
    '||x.example^$dnsrewrite=NOERROR;HTTPS;1 . ech=aGVsbG8h',
    '||x.example^$badfilter',
    '/^x[0-9]+\\./',
  ])('reports nothing for %s', (line) => {
    expect(oddityOf(line, ['Mom'])).toBeNull();
  });
});
