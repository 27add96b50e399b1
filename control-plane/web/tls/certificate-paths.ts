/** Location of the certificate of the web server. */
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CertificatePaths } from './certificate-files.ts';

/** The default of `server.web_tls`, which suits a machine dedicated to Weir, such as a container. */
const DEFAULT: CertificatePaths = { cert: '/data/cert.pem', key: '/data/key.pem' };

/**
 * The paths in the configuration; `<data_dir>/tls/` instead of the default paths if those files do not exist and Weir's
 * user cannot create them. If a certificate exists in one of the two directories, it stays in use.
 */
export function webCertificatePaths(given: CertificatePaths, dataDir: string): CertificatePaths {
  if (given.cert !== DEFAULT.cert || given.key !== DEFAULT.key || existsSync(given.cert)) return given;
  const own = { cert: join(dataDir, 'tls', 'cert.pem'), key: join(dataDir, 'tls', 'key.pem') };
  if (!existsSync(own.cert) && isWritable(dirname(given.cert))) return given;
  return own;
}

/** Whether this user can create files in a directory, or the directory itself if it does not exist. */
function isWritable(folder: string): boolean {
  const there = existsSync(folder) ? folder : dirname(folder);
  try {
    accessSync(there, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
