import { describe, expect, test } from '@jest/globals';
import { certificateStatus } from './certificate-status.ts';
import type { TlsStatus } from './certificate-status.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const GOOD: TlsStatus = {
  enabled: true,
  exists: true,
  valid: true,
  fault: null,
  subject: 'CN=weir.home.arpa',
  issuer: 'CN=An authority',
  names: ['weir.home.arpa'],
  key_type: 'EC P-256',
  not_before: '2026-01-01T00:00:00.000Z',
  expiration: '2026-06-01T00:00:00.000Z',
  self_signed: false,
};

describe('certificateStatus() of the web server', () => {
  test.each([
    ['tls.good', 'good', {}],
    ['tls.ownGood', 'good', { self_signed: true }],
    ['tls.soon', 'warning', { expiration: '2026-03-22T00:00:00.000Z' }],
    ['tls.good', 'good', { expiration: '2026-03-23T00:00:00.000Z' }],
    ['tls.unusable', 'fault', { valid: false }],
    ['tls.unusable', 'fault', { valid: false, not_before: null, expiration: null }],
    ['tls.faulty', 'fault', { valid: false, fault: 'the private key cannot be read' }],
    ['tls.expired', 'fault', { valid: false, expiration: '2026-03-01T11:59:59.000Z' }],
    ['tls.early', 'fault', { valid: false, not_before: '2026-03-02T00:00:00.000Z' }],
    ['tls.missing', 'info', { exists: false, valid: false, expiration: null, not_before: null }],
  ] as const)('is %s with tone %s', (text, tone, differs) => {
    expect(certificateStatus({ ...GOOD, ...differs }, NOW)).toEqual({ tone, text });
  });
});
