/**
 * The files of deploy/compose: docker-compose accepts them, and Weir accepts their settings.
 *
 * @needs docker-compose
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { parseConfig } from '../../config/parse-config.ts';

type Variables = Readonly<Record<string, string>>;

interface Service {
  readonly image: string;
  readonly environment?: Variables;
  readonly sysctls?: Variables;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
}

const FOLDER = join(import.meta.dirname, '..', '..', 'deploy', 'compose');

const PASSWORDS = {
  ...{ POSTGRES_PASSWORD: 'of-superuser', OWNER_PASSWORD: 'secret' },
  ...{ QUERY_PASSWORD: 'third', REPLICA_PASSWORD: 'other' },
};

/** Configuration that docker-compose reads from a file. */
function composed(file: string, variables: Variables): Compose {
  const { status, stdout, stderr } = spawnSync('docker-compose', ['--file', file, 'config'], {
    cwd: FOLDER,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...variables },
  });
  if (status !== 0) throw new Error(stderr);
  return parse(stdout) as Compose;
}

/** Configuration that Weir reads from environment variables. */
function configured(env: Variables) {
  const result = parseConfig({ file: undefined, env });
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.value.config;
}

describe('deploy/compose', () => {
  test('single.yaml runs only the image of Weir', () => {
    const { services } = composed('single.yaml', {});
    expect(Object.values(services).map(({ image }) => image)).toEqual(['weir:latest']);
  });

  test.each(['single.yaml', 'cluster.yaml'])('%s allows queries to upstreams from 55,296 ports', (file) => {
    const { services } = composed(file, PASSWORDS);
    const nodes = Object.values(services).filter(({ image }) => image.startsWith('weir'));
    const ranges = nodes.map(({ sysctls = {} }) => sysctls['net.ipv4.ip_local_port_range']);
    expect(new Set(ranges)).toEqual(new Set(['10240 65535']));
  });

  test('cluster.yaml runs three nodes that find the database on either of two servers', () => {
    const { services } = composed('cluster.yaml', PASSWORDS);
    const nodes = Object.values(services).filter(({ image }) => image.startsWith('weir'));
    const configs = nodes.map(({ environment = {} }) => configured(environment));
    expect(configs.map(({ server }) => server.node_name)).toEqual(['a', 'b', 'c']);
    for (const { database } of configs)
      expect(database).toMatchObject({
        url: ['postgres://weir_app:third@primary/weir', 'postgres://weir_app:third@standby/weir'],
        owner_url: ['postgres://weir:secret@primary/weir', 'postgres://weir:secret@standby/weir'],
      });
  });

  test('cluster.yaml gives no node the password of the database superuser', () => {
    const { services } = composed('cluster.yaml', PASSWORDS);
    const nodes = Object.values(services).filter(({ image }) => image.startsWith('weir'));
    expect(JSON.stringify(nodes)).not.toContain('of-superuser');
  });

  test('cluster.yaml is rejected if the passwords are not set', () => {
    expect(() => composed('cluster.yaml', {})).toThrow('choose one');
  });
});
