/**
 * Writes an image as an OCI image layout: layers, configuration and manifest of each architecture, and an index of all
 * architectures. Called by the script `image` beside this file: oci-layout.ts LAYOUT VERSION TAG COMMIT FOLDER..., each
 * folder named for its architecture, with the layers as `base.tar`, `release.tar` and `own.tar`.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Reference to a blob. */
interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const [layout = '', version = '', tag = '', revision = '', ...folders] = process.argv.slice(2);
const created = new Date(Number(process.env['SOURCE_DATE_EPOCH']) * 1000).toISOString();
const SECOND_NS = 1e9;
const WEIR = '/opt/weir/control-plane/cli/weir';
const LAYERS = {
  'base.tar': 'libraries and a shell of Debian',
  'release.tar': 'Weir with its packages, Node and PostgreSQL',
  'own.tar': 'folders that Weir writes to',
} as const;
const ABOUT = {
  'org.opencontainers.image.title': 'Weir',
  'org.opencontainers.image.description': 'A DNS server that filters',
  'org.opencontainers.image.licenses': 'MIT',
  'org.opencontainers.image.version': version,
  'org.opencontainers.image.revision': revision,
  'org.opencontainers.image.created': created,
};

function mediaType(kind: string): string {
  return `application/vnd.oci.image.${kind}`;
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function writeBlob(type: string, content: Uint8Array | object): Descriptor {
  const bytes = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
  const digest = digestOf(bytes);
  writeFileSync(join(layout, 'blobs', ...digest.split(':')), bytes);
  return { mediaType: type, digest, size: bytes.length };
}

/** Default runtime settings of the image. */
function runSettings(): object {
  return {
    User: '65053:65053',
    Env: [
      // The variable by which systemd detects containers; with it, Weir knows that its addresses are not those of the
      // machine.
      'container=oci',
      'PATH=/opt/weir/control-plane/cli:/usr/bin',
      'WEIR_SERVER_DATA_DIR=/var/lib/weir',
      // Set explicitly, so that Weir reports an error if it cannot use the port, instead of choosing another port.
      'WEIR_SERVER_DNS_PORT=53',
    ],
    Entrypoint: [WEIR],
    Cmd: ['start'],
    WorkingDir: '/var/lib/weir',
    Volumes: { '/var/lib/weir': {} },
    ExposedPorts: { '53/udp': {}, '53/tcp': {}, '8080/tcp': {} },
    StopSignal: 'SIGTERM',
    Labels: ABOUT,
    // The check sends a DNS query: a node that answers without its database is healthy.
    Healthcheck: {
      Test: ['CMD', WEIR, 'ready'],
      Interval: 10 * SECOND_NS,
      Timeout: 5 * SECOND_NS,
      StartPeriod: 60 * SECOND_NS,
      Retries: 3,
    },
  };
}

function writeImage(folder: string): Descriptor {
  const tars = Object.keys(LAYERS).map((name) => readFileSync(join(folder, name)));
  const config = writeBlob(mediaType('config.v1+json'), {
    created,
    architecture: basename(folder),
    os: 'linux',
    config: runSettings(),
    rootfs: { type: 'layers', diff_ids: tars.map(digestOf) },
    history: Object.values(LAYERS).map((comment) => ({ created, comment })),
  });
  const manifest = writeBlob(mediaType('manifest.v1+json'), {
    schemaVersion: 2,
    mediaType: mediaType('manifest.v1+json'),
    config,
    layers: tars.map((tar) => writeBlob(mediaType('layer.v1.tar+gzip'), gzipSync(tar, { level: 9 }))),
    annotations: ABOUT,
  });
  return manifest;
}

/** An entry of the layout's index, with the name by which tools find it. */
function named(descriptor: object, name: string): object {
  return { ...descriptor, annotations: { 'org.opencontainers.image.ref.name': name } };
}

mkdirSync(join(layout, 'blobs', 'sha256'), { recursive: true });
const images = folders.map((folder) => ({
  ...writeImage(folder),
  platform: { architecture: basename(folder), os: 'linux' },
}));
const index = writeBlob(mediaType('index.v1+json'), {
  schemaVersion: 2,
  mediaType: mediaType('index.v1+json'),
  manifests: images,
  annotations: ABOUT,
});
writeFileSync(
  join(layout, 'index.json'),
  JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaType('index.v1+json'),
    manifests: [
      named(index, tag),
      ...images.map((image) => named(image, `${tag}-${image.platform.architecture}`)),
    ],
  }),
);
writeFileSync(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
process.stdout.write(`weir:${tag} ${index.digest}\n`);
