/**
 * Certificate files that belong to another user.
 *
 * @needs root
 */
import { expect, test } from '@jest/globals';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CertificateFiles } from './certificate-files.ts';
import { makeSelfSigned } from './self-signed.ts';

const OTHER = 65_534;

test.each(['cert', 'key'] as const)('store() does not overwrite a %s file of another user', async (which) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-tls-'));
  try {
    const files = new CertificateFiles({ cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') });
    const first = await makeSelfSigned(['first.test'], Date.now());
    await files.store(first);
    await chown(files.paths[which], OTHER, OTHER);
    await expect(files.store(await makeSelfSigned(['second.test'], Date.now()))).rejects.toMatchObject({
      isForeign: true,
    });
    expect(await files.read()).toEqual(first);
  } finally {
    await rm(folder, { recursive: true });
  }
});
