/** The files of deploy/kubernetes: Kubernetes accepts them, and Weir accepts their settings. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { DaemonSet } from 'kubernetes-types/apps/v1.js';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import { parse } from 'yaml';
import { parseConfig } from '../../config/parse-config.ts';
import { kubernetesFaults } from '../support/parts/kubernetes-faults.ts';
import type { Manifest } from '../support/parts/kubernetes-faults.ts';

type Variables = Readonly<Record<string, string>>;

interface Kustomization {
  readonly resources: readonly string[];
  readonly images: readonly { readonly name: string }[];
}

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');

function read(file: string): unknown {
  return parse(readFileSync(join(DEPLOY, file), 'utf8'));
}

/** Configuration that Weir reads from environment variables. */
function configured(env: Variables) {
  const result = parseConfig({ file: undefined, env });
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.value.config;
}

describe('deploy/kubernetes', () => {
  const daemonSet = read('kubernetes/weir-daemonset.yaml') as DaemonSet & Manifest;
  const pod = daemonSet.spec!.template.spec!;
  const [weir] = pod.containers;

  test('weir-daemonset.yaml and weir-namespace.yaml match the types of the Kubernetes API', () => {
    expect(kubernetesFaults(daemonSet, read('kubernetes/weir-namespace.yaml') as Manifest)).toEqual([]);
  });

  test.each<[string, string, (pod: PodSpec) => unknown]>([
    ['an unknown field', 'hostNetworks', (pod) => Object.assign(pod, { hostNetworks: true })],
    ['a wrong type', 'number', (pod) => Object.assign(pod, { terminationGracePeriodSeconds: 'ten' })],
    ['a missing field', "'name' is missing", (pod) => Reflect.deleteProperty(pod.containers[0]!, 'name')],
  ])('kubernetesFaults() reports %s', (_mistake, fault, spoil) => {
    const spoiled = structuredClone(daemonSet);
    spoil(spoiled.spec!.template.spec!);
    expect(kubernetesFaults(spoiled)).toEqual([expect.stringContaining(fault)]);
  });

  test('weir-daemonset.yaml declares no port, so that a new pod can start before the old pod stops', () => {
    expect(daemonSet.spec!.updateStrategy?.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    expect([pod.hostNetwork, weir!.ports]).toEqual([true, undefined]);
  });

  test('weir-daemonset.yaml gives Weir only the capability for port 53', () => {
    expect(weir!.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
    });
  });

  test('weir-daemonset.yaml sets only environment variables that Weir knows', () => {
    const names = (weir!.env ?? []).map(({ name }) => name);
    expect(configured(Object.fromEntries(names.map((name) => [name, 'postgres://db/weir'])))).toMatchObject({
      database: { url: ['postgres://db/weir'] },
      server: { node_name: 'postgres://db/weir' },
    });
  });

  test('kustomization.yaml lists existing files, and the image of the DaemonSet', () => {
    const { resources, images } = read('kubernetes/kustomization.yaml') as Kustomization;
    expect(resources.filter((file) => !existsSync(join(DEPLOY, 'kubernetes', file)))).toEqual([]);
    expect(images.map(({ name }) => name)).toEqual([weir!.image]);
  });
});
