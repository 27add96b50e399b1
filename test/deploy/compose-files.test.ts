/**
 * The files of deploy/compose: docker-compose takes them, and Weir takes what they set.
 *
 * @needs docker-compose
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { parseConfig } from '../../config/parse-config.ts';

type Variables = Readonly<Record<string, string>>;

interface Compose {
  readonly services: Readonly<Record<string, { readonly image: string; readonly environment?: Variables }>>;
}

const FOLDER = join(import.meta.dirname, '..', '..', 'deploy', 'compose');

const PASSWORDS = {
  ...{ POSTGRES_PASSWORD: 'of-superuser', OWNER_PASSWORD: 'secret' },
  ...{ QUERY_PASSWORD: 'third', REPLICA_PASSWORD: 'other' },
};

/** What docker-compose makes of a file. */
function composed(file: string, variables: Variables): Compose {
  const { status, stdout, stderr } = spawnSync('docker-compose', ['--file', file, 'config'], {
    cwd: FOLDER,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...variables },
  });
  if (status !== 0) throw new Error(stderr);
  return parse(stdout) as Compose;
}

/** What Weir makes of variables of the environment. */
function configured(env: Variables) {
  const result = parseConfig({ file: undefined, env });
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.value.config;
}

describe('deploy/compose', () => {
  test('single.yaml runs the image of Weir alone', () => {
    const { services } = composed('single.yaml', {});
    expect(Object.values(services).map(({ image }) => image)).toEqual(['weir:latest']);
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

  test('no node of cluster.yaml knows the password of the superuser', () => {
    const { services } = composed('cluster.yaml', PASSWORDS);
    const nodes = Object.values(services).filter(({ image }) => image.startsWith('weir'));
    expect(JSON.stringify(nodes)).not.toContain('of-superuser');
  });

  test('cluster.yaml is refused where the passwords were not chosen', () => {
    expect(() => composed('cluster.yaml', {})).toThrow('choose one');
  });
});
