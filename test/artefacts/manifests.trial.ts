/**
 * deploy/kubernetes as `kubectl apply --kustomize` sends it. Needs kubectl (Debian: kubernetes-client), but no cluster.
 */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { DaemonSet } from 'kubernetes-types/apps/v1.js';
import type { Namespace } from 'kubernetes-types/core/v1.js';
import { parseAllDocuments } from 'yaml';
import { kubernetesFaults } from '../support/parts/kubernetes-faults.ts';
import type { Manifest } from '../support/parts/kubernetes-faults.ts';
import { run } from './trial-parts.ts';

const MANIFESTS = join(import.meta.dirname, '..', '..', 'deploy', 'kubernetes');

test('kubectl builds valid objects from deploy/kubernetes, with the image name of the registry', () => {
  const made = parseAllDocuments(run('kubectl', 'kustomize', MANIFESTS)).map((one) => one.toJS() as Manifest);
  expect(made).toMatchObject([{ kind: 'Namespace' }, { kind: 'DaemonSet' }]);
  expect(kubernetesFaults(...made)).toEqual([]);
  const [namespace, daemonSet] = made as [Namespace, DaemonSet];
  expect(daemonSet.metadata?.namespace).toBe(namespace.metadata?.name);
  const { containers } = daemonSet.spec!.template.spec!;
  expect(containers.map(({ image }) => image)).toEqual([expect.stringMatching(/^registry\.example\/weir:/)]);
});
