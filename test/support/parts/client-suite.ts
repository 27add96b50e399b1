/** Clients, their networks and groups over HTTP and in a real database, for the tests of their routes. */
import { beforeEach, expect } from '@jest/globals';
import { clientRoutes } from '../../../control-plane/clients/devices/client-routes.ts';
import { newDeviceRoutes } from '../../../control-plane/clients/devices/new-devices/new-device-routes.ts';
import { mergeRoutes } from '../../../control-plane/clients/devices/merging/merge-routes.ts';
import { clientSubnetRoutes } from '../../../control-plane/clients/devices/client-subnet-routes.ts';
import { groupRoutes } from '../../../control-plane/clients/groups/group-routes.ts';
import { readPolicyRows } from '../../../control-plane/policy/change/policy-store.ts';
import { queryRoutes } from '../../../control-plane/query-log/reading/query-routes.ts';
import { revisionRoutes } from '../../../control-plane/transfer/revisions/revision-routes.ts';
import { Client } from '../../../shared/api/policy/clients-api.ts';
import { Group } from '../../../shared/api/policy/groups-api.ts';
import type { Rows, RunningApi, TestAnswer } from './running-api.ts';
import { serveSuite } from './served-suite.ts';
import { questionsOf } from './stored-log.ts';
import type { SuiteDatabase } from './suite-database.ts';

/** Routes under test. */
const suiteRoutes: Rows = (parts) => [
  ...newDeviceRoutes(parts),
  ...clientRoutes({ ...parts, stats: questionsOf(parts.database) }),
  ...mergeRoutes(parts),
  ...clientSubnetRoutes(parts),
  ...groupRoutes(parts),
  ...revisionRoutes({ ...parts, activateRestored: () => Promise.resolve() }),
  ...queryRoutes({
    ...parts,
    queryLog: questionsOf(parts.database, (address) => parts.clients.nameAt(address)),
  }),
];

/** Database and API of a suite about clients. */
export class ClientSuite {
  suite!: SuiteDatabase;
  api!: RunningApi;
  /** The group Kids, which exists in each test. */
  kids = 0;

  readonly get = (path: string): Promise<TestAnswer> => this.api.send('GET', `/api${path}`);
  readonly post = (path: string, json: unknown): Promise<TestAnswer> =>
    this.api.send('POST', `/api${path}`, { json });
  readonly move = (id: number, groupId: number | null): Promise<TestAnswer> =>
    this.api.send('PUT', `/api/clients/${id}/group`, { json: { group_id: groupId } });
  readonly rows = () => readPolicyRows(this.suite.database, () => undefined);

  readonly createGroup = async (name: string): Promise<number> =>
    Group.parse((await this.post('/groups', { name })).body).id;

  readonly create = async (json: unknown): Promise<Client> => {
    const answer = await this.post('/clients', json);
    expect(answer.status).toBe(201);
    return Client.parse(answer.body);
  };
}

/** Registers the hooks of a suite. */
export function clientSuite(): ClientSuite {
  const clients = new ClientSuite();
  // Each test has a separate directory, because deleting rows does not delete files.
  serveSuite(suiteRoutes, (served) => Object.assign(clients, served), { perTest: true });
  beforeEach(async () => {
    clients.kids = await clients.createGroup('Kids');
    clients.api.policyChanges = 0;
  });
  return clients;
}

/** The fields that a problem response reports. */
export function pathsOf(answer: TestAnswer): string[] {
  return [...new Set(answer.problem.errors!.map((fault) => fault.path))];
}
