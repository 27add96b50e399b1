/**
 * Certificates for tests, made with openssl in a temporary folder: a certificate authority, and server certificates
 * signed by it.
 *
 * @needs openssl
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate with its key, as PEM and as files. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
  readonly certPath: string;
  readonly keyPath: string;
}

/** A certificate authority; `close` deletes its files. */
export class TestAuthority {
  readonly cert: string;
  readonly folder: string;
  private made = 0;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'weir-certificates-'));
    this.openssl(
      'req',
      '-x509',
      ...this.newKey('ca'),
      '-out',
      'ca.pem',
      '-subj',
      '/CN=Weir test authority',
      '-days',
      '2',
    );
    this.cert = this.read('ca.pem');
  }

  /** A certificate for these names, e.g. `DNS:dns.example.org,IP:127.0.0.1`. */
  issue(names: string, isExpired = false): TestCertificate {
    const name = `server${String(this.made++)}`;
    this.openssl('req', ...this.newKey(name), '-out', `${name}.csr`, '-subj', '/CN=server');
    writeFileSync(join(this.folder, `${name}.ext`), `subjectAltName=${names}\n`);
    if (isExpired) this.signExpired(name);
    else this.sign(name);
    return {
      cert: this.read(`${name}.pem`),
      key: this.read(`${name}.key`),
      certPath: join(this.folder, `${name}.pem`),
      keyPath: join(this.folder, `${name}.key`),
    };
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private sign(name: string): void {
    const signer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
    const paths = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-extfile', `${name}.ext`];
    this.openssl('x509', '-req', ...paths, ...signer);
  }

  /** Older versions of `openssl x509` cannot set the dates; `openssl ca` can. */
  private signExpired(name: string): void {
    writeFileSync(join(this.folder, 'index'), '');
    const settings = `[ca]\ndefault_ca=it\n[it]\ndatabase=index\nnew_certs_dir=.\nserial=ca.srl\ndefault_md=sha256\npolicy=any\n[any]\ncommonName=supplied\n`;
    writeFileSync(join(this.folder, 'ca.conf'), settings);
    writeFileSync(join(this.folder, 'ca.srl'), '1000\n');
    const dates = ['-startdate', '20200101000000Z', '-enddate', '20200102000000Z'];
    const paths = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-cert', 'ca.pem', '-keyfile', 'ca.key'];
    this.openssl(
      'ca',
      '-batch',
      '-notext',
      '-config',
      'ca.conf',
      ...paths,
      ...dates,
      '-extfile',
      `${name}.ext`,
    );
  }

  private newKey(name: string): string[] {
    return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${name}.key`];
  }

  private read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8');
  }

  private openssl(...args: string[]): void {
    execFileSync('openssl', args, { cwd: this.folder, stdio: 'pipe' });
  }
}
