/** The files of deploy/kubernetes: Kubernetes takes them, and Weir takes what they set. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { DaemonSet } from 'kubernetes-models/apps/v1';
import { Namespace } from 'kubernetes-models/v1';
import { parse } from 'yaml';
import { parseConfig } from '../../config/parse-config.ts';

type Variables = Readonly<Record<string, string>>;

interface Kustomization {
  readonly resources: readonly string[];
  readonly images: readonly { readonly name: string }[];
}

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');

function read(file: string): unknown {
  return parse(readFileSync(join(DEPLOY, file), 'utf8'));
}

/** What Weir makes of variables of the environment. */
function configured(env: Variables) {
  const result = parseConfig({ file: undefined, env });
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.value.config;
}

describe('deploy/kubernetes', () => {
  const daemonSet = read('kubernetes/weir-daemonset.yaml') as DaemonSet;
  const pod = daemonSet.spec!.template.spec!;
  const [weir] = pod.containers;

  test('weir-daemonset.yaml and weir-namespace.yaml are what Kubernetes knows', () => {
    new DaemonSet(daemonSet).validate();
    new Namespace(read('kubernetes/weir-namespace.yaml') as Namespace).validate();
    const mistaken = structuredClone(daemonSet);
    Object.assign(mistaken.spec!, { minReadySeconds: 'ten' });
    expect(() => new DaemonSet(mistaken).validate()).toThrow('minReadySeconds');
  });

  test('weir-daemonset.yaml lets a new pod start beside the old one: no port is declared', () => {
    expect(daemonSet.spec!.updateStrategy?.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    expect([pod.hostNetwork, weir!.ports]).toEqual([true, undefined]);
  });

  test('weir-daemonset.yaml gives Weir no right but that to port 53', () => {
    expect(weir!.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
    });
  });

  test('weir-daemonset.yaml sets variables that Weir knows', () => {
    const names = (weir!.env ?? []).map(({ name }) => name);
    expect(configured(Object.fromEntries(names.map((name) => [name, 'postgres://db/weir'])))).toMatchObject({
      database: { url: ['postgres://db/weir'] },
      server: { node_name: 'postgres://db/weir' },
    });
  });

  test('kustomization.yaml names files that there are, and the image that they run', () => {
    const { resources, images } = read('kubernetes/kustomization.yaml') as Kustomization;
    expect(resources.filter((file) => !existsSync(join(DEPLOY, 'kubernetes', file)))).toEqual([]);
    expect(images.map(({ name }) => name)).toEqual([weir!.image]);
  });
});
