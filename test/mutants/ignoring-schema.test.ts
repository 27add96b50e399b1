import { describe, expect, test } from '@jest/globals';
import type { Config } from '../../config/schema.ts';
import { schema } from '../../config/schema.ts';
import { blockingSettings, questionFlags } from '../../control-plane/policy/settings/derived.ts';
import { QuestionFlag } from '../../shared/snapshot/policy-table.ts';
import { ignoringSchema } from './ignoring-schema.ts';

/** The configuration of a server that ignores a key. */
function ignoring(key: string, raw: object): Config {
  const parsed = ignoringSchema(schema, () => key).safeParse(raw, {});
  if (!parsed.success) throw parsed.error;
  return parsed.data;
}

describe('ignoringSchema(), which simulates an ignored configuration key,', () => {
  test('returns the default of the key and the real values of all other keys to the server', () => {
    const raw = { blocking: { ttl_secs: 77, mode: 'nxdomain' } };
    expect(blockingSettings(ignoring('blocking.ttl_secs', raw))).toMatchObject({
      ttlSecs: 10,
      mode: 'nxdomain',
    });
    expect(blockingSettings(ignoring('blocking.mode', raw))).toMatchObject({ ttlSecs: 77, mode: 'null_ip' });
  });

  test('returns the real value of the key to tests', () => {
    expect(ignoring('blocking.ttl_secs', { blocking: { ttl_secs: 77 } }).blocking.ttl_secs).toBe(77);
  });

  test('ignores the key even if other keys would be rejected without it', () => {
    const raw = { blocking: { mode: 'custom_ip', custom_ipv4: '192.0.2.5' } };
    expect(blockingSettings(ignoring('blocking.custom_ipv4', raw))).toMatchObject({
      mode: 'custom_ip',
      customIpv4: '',
    });
  });

  test('ignores keys of any depth, and keeps reporting faults', () => {
    expect(questionFlags(ignoring('dns.special_names', { dns: { special_names: false } }))).toBe(
      questionFlags(ignoring('', {})),
    );
    expect(
      questionFlags(ignoring('dns.ecs', { dns: { special_names: false } })) & QuestionFlag.SPECIAL_NAMES,
    ).toBe(0);
    expect(ignoringSchema(schema, () => 'dns.ecs').safeParse({ dns: { ecs: 'x' } }, {}).success).toBe(false);
  });
});
