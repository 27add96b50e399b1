/**
 * Names for recurring statements, so that PostgreSQL parses each statement only once per connection and keeps its plan.
 * Without names, planning took most of the time of a policy change, because its statements read few rows of many
 * tables.
 */
import type { ClientBase, QueryResultRow } from 'pg';
import type { Queryable } from './queryable.ts';

/** Maximum number of named statements: limited because each connection keeps their plans. */
const MAX_NAMED = 300;
/** Maximum number of texts that are remembered after their first run. */
const MAX_SEEN = 1000;

/** Assigns names to statements. The same names are used on all connections of a pool. */
export class StatementNames {
  private readonly names = new Map<string, string>();
  private readonly seen = new Set<string>();

  /** Undefined for a text that is seen for the first time, or once there are enough names. */
  nameOf(text: string): string | undefined {
    const name = this.names.get(text);
    if (name !== undefined) return name;
    if (this.seen.delete(text) && this.names.size < MAX_NAMED) {
      const given = `weir_${this.names.size}`;
      this.names.set(text, given);
      return given;
    }
    if (this.seen.size >= MAX_SEEN) this.seen.clear();
    this.seen.add(text);
    return undefined;
  }

  /** Runs statements under their names. A text without values may consist of several statements and gets no name. */
  runOn(client: ClientBase): Queryable {
    return {
      query: <Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) => {
        if (values.length === 0 && text.includes(';')) return client.query<Row>(text);
        const name = this.nameOf(text);
        if (name === undefined && values.length === 0) return client.query<Row>(text);
        return client.query<Row>({ text, values: values as unknown[], ...(name !== undefined && { name }) });
      },
    };
  }
}
