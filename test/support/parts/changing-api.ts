/** Every route that changes something, over a real database and real lists, for suites that run them all. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asOwner } from './as-owner.ts';
import { SettingsImport } from '../../../control-plane/transfer/importers/import-settings.ts';
import { CertificateFiles, type CertificatePaths } from '../../../control-plane/web/tls/certificate-files.ts';
import { WebCertificate } from '../../../control-plane/web/tls/web-certificate.ts';
import { everyRoute } from './every-route.ts';
import { prepareMutation } from './api-changes.ts';
import type { Mutation, MutationFixture } from './mutation-fixture.ts';
import { NO_OTHERS_ASKED } from './import-suite.ts';
import { RunningApi } from './running-api.ts';
import type { Rows, TestAnswer } from './running-api.ts';
import { RunningLists, TESTER } from './running-lists.ts';
import type { ListNode } from './running-lists.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';
import type { Route } from '../../../control-plane/api/route.ts';
import { nodeIdOf } from '../../../control-plane/storage/cluster/node-store.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';

/** A database that can be replaced at any time, so that one API serves all cases. */
export class DatabaseSwitch {
  /** The current database. */
  current: Database;
  /** Delegates every call to the current database. */
  readonly database: Database;

  constructor(first: Database) {
    this.current = first;
    this.database = new Proxy({} as Database, {
      get: (_target, name) => {
        const value: unknown = Reflect.get(this.current, name);
        return typeof value === 'function' ? (value.bind(this.current) as unknown) : value;
      },
    });
  }
}

/** The API of a suite. */
export class ChangingApi {
  readonly lists: RunningLists;
  /** The API, without authentication, so every request has full access. */
  api: RunningApi;
  /** Connects the API to the current database. */
  readonly way: DatabaseSwitch;
  private readonly node: ListNode;
  private readonly folder: string;
  private lastList = 0;

  private constructor(
    lists: RunningLists,
    node: ListNode,
    { api, way, folder }: { api: RunningApi; way: DatabaseSwitch; folder: string },
  ) {
    this.lists = lists;
    this.node = node;
    this.api = api;
    this.way = way;
    this.folder = folder;
  }

  /** Opens the suite in `beforeAll`. */
  static async open(): Promise<ChangingApi> {
    const lists = await RunningLists.open();
    await lists.begin();
    const way = new DatabaseSwitch(lists.database);
    const node = await lists.startNode(undefined, way.database);
    const folder = await mkdtemp(join(tmpdir(), 'weir-changing-'));
    const api = await startApi(way, node, folder);
    return new ChangingApi(lists, node, { api, way, folder });
  }

  /** The certificate and its key, as their files contain them. */
  async certificateFiles(): Promise<string> {
    const { cert, key } = pathsIn(this.folder);
    return (await Promise.all([cert, key].map((path) => readFile(path, 'utf8').catch(() => '')))).join('');
  }

  get database(): Database {
    return this.lists.database;
  }

  /** Prepares a route, and returns a request that has not been sent yet. */
  prepare(route: Route): Promise<Mutation> {
    const fixture: MutationFixture = {
      make: async (method, path, json) => {
        const answer = await this.send({ method, path, json });
        if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
        return answer.body as Record<string, unknown>;
      },
      listUrl: () => this.lists.serve(`/${++this.lastList}`, `a${this.lastList}.example\n`),
      hold: (id) => this.holdBack(id),
      editConfig: (line) => writeFile(join(this.api.folder, 'weir.toml'), `auth.enabled = false\n${line}\n`),
      unset: async () => {
        await asOwner(this.database, 'TRUNCATE admin_credential, second_factors CASCADE');
        // Restarts the API, because it caches whether a password is set.
        await this.api.close();
        this.api = await startApi(this.way, this.node, this.folder);
      },
      signIn: async () => {
        await asOwner(this.database, 'TRUNCATE second_factors CASCADE');
        await this.api.setUp();
        return this.api.logIn();
      },
      addGoneNode: async (name) => {
        const text = `INSERT INTO nodes (id, name, last_seen) VALUES ($1, $2, now() - interval '1 hour')`;
        await this.database.query(text, [nodeIdOf(name), name]);
      },
      giveFactor: async (userId) => {
        const text = `INSERT INTO second_factors (user_id, secret, confirmed_at) VALUES ($1, '\\x00', now())`;
        await this.database.query(text, [userId]);
      },
      addUnblockRequest: async (clientId) => {
        const text = `INSERT INTO unblock_requests (client_id, domain, created_at) VALUES ($1, 'a.example', $2) RETURNING id`;
        const values = [clientId, new Date(this.api.clock.nowMs())];
        return (await this.database.query<{ id: number }>(text, values)).rows[0]!.id;
      },
      clock: this.api.clock,
    };
    return prepareMutation(route, fixture);
  }

  send({ method, path, ...request }: Mutation): Promise<TestAnswer> {
    return this.api.send(method, `/api${path}`, request);
  }

  /** Closes the suite in `afterAll`. */
  async close(): Promise<void> {
    await this.api.close();
    await this.lists.end();
    await this.lists.close();
    await rm(this.folder, { recursive: true });
  }

  /** Puts the update of a list on hold by making it much shorter. */
  private async holdBack(id: number): Promise<void> {
    const { database, lists, node } = this;
    const { rows } = await database.query<{ url: string; kind: SourceKind }>(
      'SELECT url, kind FROM list_sources WHERE id = $1',
      [id],
    );
    const { url, kind } = rows[0]!;
    for (const count of [10, 1]) {
      const names = Array.from({ length: count }, (_, index) => `n${index}.example`);
      lists.serve(new URL(url).pathname, `${names.join('\n')}\n`);
      await node.all.refresh(kind, id, TESTER);
      await node.all.idle();
    }
  }
}

/** The certificate in the files of a folder. */
async function startApi(way: DatabaseSwitch, node: ListNode, folder: string): Promise<RunningApi> {
  const rows: Rows = (parts) =>
    everyRoute({
      sources: node.all,
      settingsImport: new SettingsImport({
        ...parts,
        sources: node.all,
        catalog: { get: () => undefined },
        localNames: { live: () => ({ configRecords: [] }) },
        site: () => '',
        nodeName: 'node-a',
        listDirs: () => [],
        dataDir: () => folder,
        ...NO_OTHERS_ASKED,
      }),
      certificate: new WebCertificate({
        ...parts,
        files: new CertificateFiles(pathsIn(folder)),
        names: () => ['node-a'],
      }),
    })(parts);
  const api = await RunningApi.start(way.database, rows);
  await api.parts.configuration.settle(api.parts.policy);
  return api;
}

function pathsIn(folder: string): CertificatePaths {
  return { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
}
