/** State of the certificate in one sentence. */
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import type { MessageKey } from '../../../i18n/language.ts';

/** Status of the certificate files, as the server reports it. */
export type TlsStatus = AnswerOf<'GET /tls/status'>;

export interface CertificateStatus {
  readonly tone: 'good' | 'info' | 'warning' | 'fault';
  readonly text: MessageKey;
}

/** Remaining validity at which a warning is shown: enough for a manual renewal; automatic renewals happen before. */
const SOON_MS = 21 * 86_400_000;

/** The worst problem of the certificate. */
export function certificateStatus(status: TlsStatus, nowMs: number): CertificateStatus {
  const { exists, valid, fault, not_before: begins, expiration: ends } = status;
  if (!exists) return { tone: 'info', text: 'tls.missing' };
  if (ends !== null && Date.parse(ends) < nowMs) return { tone: 'fault', text: 'tls.expired' };
  if (begins !== null && Date.parse(begins) > nowMs) return { tone: 'fault', text: 'tls.early' };
  if (!valid) return { tone: 'fault', text: fault === null ? 'tls.unusable' : 'tls.faulty' };
  if (ends !== null && Date.parse(ends) - nowMs < SOON_MS) return { tone: 'warning', text: 'tls.soon' };
  return { tone: 'good', text: status.self_signed === true ? 'tls.ownGood' : 'tls.good' };
}
