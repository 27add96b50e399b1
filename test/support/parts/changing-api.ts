/** Every route that changes something, over a real database and real lists, for suites that run them all. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { everyRoute } from './every-route.ts';
import { prepareMutation } from './mutations.ts';
import type { Mutation, MutationRoom } from './mutations.ts';
import { RunningApi } from './running-api.ts';
import type { TestAnswer } from './running-api.ts';
import { RunningLists, TESTER } from './running-lists.ts';
import type { ListNode } from './running-lists.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';
import type { Route } from '../../../control-plane/api/route.ts';
import type { Database } from '../../../control-plane/db/database.ts';

/** A database that is another one from one moment to the next, so that one API serves all cases. */
export class DatabaseSwitch {
  /** The one of now. */
  current: Database;
  /** Hands every call to it. */
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
  readonly api: RunningApi;
  /** What the API reaches the database through. */
  readonly way: DatabaseSwitch;
  private readonly node: ListNode;
  private lastList = 0;

  private constructor(
    lists: RunningLists,
    node: ListNode,
    { api, way }: { api: RunningApi; way: DatabaseSwitch },
  ) {
    this.lists = lists;
    this.node = node;
    this.api = api;
    this.way = way;
  }

  /** For `beforeAll`. */
  static async open(): Promise<ChangingApi> {
    const lists = await RunningLists.open();
    await lists.begin();
    const way = new DatabaseSwitch(lists.database);
    const node = await lists.startNode(undefined, way.database);
    const api = await RunningApi.start(way.database, everyRoute({ sources: node.all }));
    await api.parts.configuration.settle(api.parts.policy);
    return new ChangingApi(lists, node, { api, way });
  }

  get database(): Database {
    return this.lists.database;
  }

  /** Makes what a route needs, and returns a request of it that has not been sent yet. */
  prepare(route: Route): Promise<Mutation> {
    const room: MutationRoom = {
      make: async (method, path, json) => {
        const answer = await this.send({ method, path, json });
        if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
        return answer.body as Record<string, unknown>;
      },
      listUrl: () => this.lists.serve(`/${++this.lastList}`, `a${this.lastList}.example\n`),
      hold: (id) => this.holdBack(id),
      editConfig: (line) => writeFile(join(this.api.folder, 'weir.toml'), `auth.enabled = false\n${line}\n`),
    };
    return prepareMutation(route, room);
  }

  send({ method, path, json }: Mutation): Promise<TestAnswer> {
    return this.api.send(method, `/api${path}`, json === undefined ? {} : { json });
  }

  /** For `afterAll`. */
  async close(): Promise<void> {
    await this.api.close();
    await this.lists.end();
    await this.lists.close();
  }

  /** The newer copy of a list is held back because it is much shorter. */
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
