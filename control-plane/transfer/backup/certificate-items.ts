/**
 * The web certificate in a backup. A restore first checks that the files can be replaced, then stores the certificate
 * for all nodes in its transaction, and writes the files afterwards.
 */
import { ApiError, conflict } from '../../api/api-error.ts';
import type { Queryable } from '../../storage/db/queryable.ts';
import { CertificateFilesError } from '../../web/tls/certificate-files.ts';
import { CertificateFault, readPair, refuseOutOfDate } from '../../web/tls/certificate-pair.ts';
import type { CertificatePair } from '../../web/tls/certificate-pair.ts';
import type { SharedCertificate } from '../../web/tls/shared-certificate.ts';
import type { WebCertificate } from '../../web/tls/web-certificate.ts';
import type { FieldProblem } from '../../../shared/api/problem-details.ts';
import type { BackupKind, Item } from './backup-kind.ts';

/** Dependencies of backup and restore for certificates. */
export interface CertificateParts {
  readonly certificate: Pick<WebCertificate, 'current' | 'check'>;
  readonly sharedCertificate: Pick<SharedCertificate, 'share' | 'take'>;
}

/** The kind; `readItems` takes its objects from the certificate in use, so there is no SQL. */
export const certificates: BackupKind = {
  name: 'certificates',
  key: ['name'],
  read: 'SELECT WHERE false',
  put: [],
  remove: [],
};

/** The certificate in use, unless each node generates its own. */
export function certificateItems({ certificate }: CertificateParts): Item[] {
  const pair = certificate.current();
  return pair === null || pair.facts.isSelfSigned ? [] : [{ name: 'web', cert: pair.cert, key: pair.key }];
}

/** Adds the errors of a certificate and its key to `problems`. */
export function readCertificateItem(item: Item, path: string, problems: FieldProblem[]): Item {
  if (item['key'] === null) return item;
  try {
    const { cert, key } = pairOf(item);
    return { ...item, cert, key };
  } catch (error) {
    if (!(error instanceof CertificateFault)) throw error;
    problems.push({ path: `${path}.${error.field}`, message: error.message });
    return item;
  }
}

/** Whether a certificate can no longer be used. */
export function isOutOfDate(item: Item, now: Date): boolean {
  try {
    refuseOutOfDate(pairOf(item), now.getTime());
    return false;
  } catch (error) {
    // Other errors have already been reported.
    return error instanceof CertificateFault && error.field === 'cert';
  }
}

/** Checks that the files can be replaced. @throws {ApiError} 409, 503 */
export async function checkCertificate({ certificate }: CertificateParts, item: Item): Promise<void> {
  try {
    await certificate.check(pairOf(item));
  } catch (error) {
    if (!(error instanceof CertificateFilesError)) throw error;
    if (error.isForeign) throw conflict(`certificates: ${error.message}, or remove it from the backup`);
    throw new ApiError(503, 'dependency_unavailable', error.message, { cause: error });
  }
}

/** Stores the certificate for all nodes, as part of the restore's transaction. */
export function shareCertificate(
  { sharedCertificate }: CertificateParts,
  tx: Queryable,
  item: Item,
): Promise<void> {
  return sharedCertificate.share(tx, pairOf(item));
}

function pairOf(item: Item): CertificatePair {
  return readPair(String(item['cert']), String(item['key']));
}
