/** deploy/kubernetes as `kubectl apply --kustomize` sends it. Needs kubectl (Debian: kubernetes-client), and no cluster. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { DaemonSet } from 'kubernetes-models/apps/v1';
import { Namespace } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';
import { run } from './room.ts';

const MANIFESTS = join(import.meta.dirname, '..', '..', 'deploy', 'kubernetes');

test('kubectl makes objects of deploy/kubernetes that Kubernetes knows, with the image of the registry', () => {
  const made = parseAllDocuments(run('kubectl', 'kustomize', MANIFESTS)).map((one) => one.toJS() as object);
  expect(made).toMatchObject([{ kind: 'Namespace' }, { kind: 'DaemonSet' }]);
  const namespace = new Namespace(made[0]);
  namespace.validate();
  const daemonSet = made[1] as DaemonSet;
  new DaemonSet(daemonSet).validate();
  expect(daemonSet.metadata?.namespace).toBe(namespace.metadata?.name);
  const { containers } = daemonSet.spec!.template.spec!;
  expect(containers.map(({ image }) => image)).toEqual([expect.stringMatching(/^registry\.example\/weir:/)]);
});
