/** Brings the sums of a period up to the state of a transaction: which parts they have, and what has to be read for that. */
import { reasonOf } from '../../../shared/thrown.ts';
import { DamagedBlock } from '../block/block-layout.ts';
import { BlockReader } from '../block/block-reader.ts';
import type { SummedKeys } from '../names/key-sums.ts';
import type { Addend } from '../names/kept-sums.ts';
import { partsOf } from '../names/list-parts.ts';
import { startOf } from '../names/list-span.ts';
import { DamagedList, NameList } from '../names/name-list.ts';
import {
  fetchLists,
  findAllLists,
  labelOf,
  type ListKind,
  type ListPlace,
} from '../names/name-list-store.ts';
import { BlockFilter, type TimeSpan } from '../search/block-filter.ts';
import type { FreshContent, ListedBlock } from '../search/block-listing.ts';
import { inFetches } from '../search/block-scan.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import type { KeptPeriod } from '../search/kept-periods.ts';
import { keyOfList, type LogMemory } from '../search/log-memory.ts';
import { fetchPieces, type Piece, type StoredBlock } from '../search/stored-block.ts';
import { addendOfKnown, addendOfNames, clientsOfRows, namesOfRows } from './block-addends.ts';
import { nameOf, type SumRequest } from './log-sums.ts';

/** What it takes. */
export interface PeriodUpdateParts {
  readonly tx: BlockTransaction;
  readonly memory: LogMemory;
  readonly period: KeptPeriod;
  readonly request: TimeSpan & Pick<SumRequest, 'onDamaged'>;
}

/** A block that counts. */
interface BlockPart {
  /** Without content. */
  readonly block: StoredBlock;
  /** Only the queries in it count; null: all. */
  readonly within: TimeSpan | null;
  /** Enough for all. */
  readonly fresh: FreshContent | undefined;
}

/** All that counts, by keys. */
interface Parts {
  readonly lists: Readonly<Record<ListKind, ReadonlyMap<string, ListPlace>>>;
  readonly blocks: ReadonlyMap<string, BlockPart>;
}

const ALL_ROWS = new BlockFilter({});

/** The work of one question, while no other one works on the period. */
export class PeriodUpdate {
  private readonly parts: PeriodUpdateParts;
  /** Of which something cannot be read. */
  private readonly incomplete = new Set<ListKind>();

  constructor(parts: PeriodUpdateParts) {
    this.parts = parts;
  }

  /** False where the sums cannot be kept. */
  async run(kinds: readonly ListKind[]): Promise<boolean> {
    const { memory, period } = this.parts;
    const parts = await this.findParts();
    if (parts === null) return false;
    for (const kind of kinds) {
      const has = (key: string): boolean => parts.lists[kind].has(key) || parts.blocks.has(key);
      period.sums[kind].keepOnly({ has }, memory.keysOf(kind));
    }
    for (const kind of kinds)
      if (!(await this.addLists(kind, parts.lists[kind]))) return period.bar(memory.round);
    return (await this.addBlocks(kinds, parts.blocks)) || period.bar(memory.round);
  }

  /** The sums of a kind. */
  keys(kind: ListKind): { readonly keys: SummedKeys; readonly isIncomplete: boolean } {
    const { memory, period } = this.parts;
    return { keys: period.sums[kind].keys(memory.keysOf(kind)), isIncomplete: this.incomplete.has(kind) };
  }

  /** Null where days have lost their blocks, or there are too many of those. */
  private async findParts(): Promise<Parts | null> {
    const { tx, period, request } = this.parts;
    const { lists: ranges, blocks: spans } = partsOf(request);
    const days = [request.fromUs, request.toUs].map((us) => startOf('d', us / 1000));
    const lists = await findAllLists(tx, ranges, days);
    if (lists === null) return null;
    const found = await period.blocks.read(tx, spans);
    if (found === null) return null;
    const blocks = found.ranges.flatMap((some, range) =>
      some.map((listed) => partOf(listed, spans[range]!, found.fresh.get(listed.key))),
    );
    return {
      lists: {
        names: new Map(lists.names.map((place) => [keyOfList('names', place), place])),
        clients: new Map(lists.clients.map((place) => [keyOfList('clients', place), place])),
      },
      blocks: new Map(blocks),
    };
  }

  private async addLists(kind: ListKind, places: ReadonlyMap<string, ListPlace>): Promise<boolean> {
    const { tx, memory, period } = this.parts;
    const missing: ListPlace[] = [];
    const add = (place: ListPlace, addend: Addend): boolean =>
      period.sums[kind].add(keyOfList(kind, place), addend, () => {
        const list = memory.findList(kind, place);
        return list && { list };
      });
    for (const [key, place] of places) {
      if (period.sums[kind].has(key)) continue;
      const known = memory.findList(kind, place);
      if (known === undefined) missing.push(place);
      else if (!add(place, { list: known })) return false;
    }
    for await (const found of fetchLists(tx, kind, missing)) {
      await tx.turn?.();
      const list = this.read([kind], labelOf(found), () => new NameList(found));
      if (list === undefined) continue;
      const known = memory.keepList(kind, found, list);
      if (known === undefined || !add(found, { list: known })) return false;
    }
    return true;
  }

  private async addBlocks(
    kinds: readonly ListKind[],
    blocks: ReadonlyMap<string, BlockPart>,
  ): Promise<boolean> {
    const { tx, period } = this.parts;
    const wanted = [...blocks]
      .map(([key, part]) => ({
        ...part,
        key,
        place: part.block,
        kinds: kinds.filter((kind) => !period.sums[kind].has(key)),
      }))
      .filter((missing) => missing.kinds.length > 0)
      .map((missing) => this.withPieces(missing));
    for (const batch of inFetches(wanted)) {
      const fetched = await fetchPieces(tx, batch.filter(({ pieces }) => pieces.size > 0)); // prettier-ignore
      const contents = new Map(fetched.map((block) => [nameOf(block), block]));
      for (const missing of batch) {
        await tx.turn?.();
        const block = missing.pieces.size === 0 ? missing.block : contents.get(nameOf(missing.block));
        if (block !== undefined && !this.addBlock({ ...missing, block })) return false;
      }
    }
    return true;
  }

  private withPieces(missing: MissingBlock): MissingBlock & { readonly pieces: ReadonlySet<Piece> } {
    const known = this.parts.memory.findBlock(missing.block);
    if (known === undefined && missing.fresh !== undefined)
      return { ...missing, block: { ...missing.block, ...missing.fresh }, pieces: new Set() };
    const block = known === undefined ? missing.block : { ...missing.block, known };
    const pieces = new Set<Piece>(known === undefined ? ['head'] : []);
    const isByName = missing.kinds.includes('names');
    if (isByName && known?.names === undefined) pieces.add('names');
    if (missing.within === null) return { ...missing, block, pieces };
    pieces.add('times');
    if (isByName) pieces.add('nameOf');
    if (missing.kinds.includes('clients')) pieces.add('clientOf').add('outcomeOf');
    return { ...missing, block, pieces };
  }

  /** False where there is no room for its keys. */
  private addBlock(missing: MissingBlock): boolean {
    const { memory, period } = this.parts;
    const { key, place, block, within, kinds } = missing;
    const reader = this.read(kinds, nameOf(block), () => new BlockReader(block, block.known?.head));
    if (reader === undefined) return true;
    if (block.known === undefined) memory.keepHead(block, reader.head);
    for (const kind of kinds) {
      const addend = this.read([kind], nameOf(block), () => this.addendOf(kind, missing, reader));
      if (addend === null) return false;
      if (addend === undefined) continue;
      const find = (): Addend | undefined =>
        within === null ? addendOfKnown(memory, kind, memory.findBlock(place)) : addend;
      if (!period.sums[kind].add(key, addend, find)) return false;
    }
    return true;
  }

  /** Null where there is no room for its keys. @throws {DamagedBlock} */
  private addendOf(kind: ListKind, { block, within }: MissingBlock, reader: BlockReader): Addend | null {
    const { memory } = this.parts;
    if (kind === 'clients') {
      if (within !== null) {
        const repeats = ALL_ROWS.repeatsByClient(reader, within);
        return clientsOfRows(memory, reader, ALL_ROWS.rows(reader, within), repeats);
      }
      return addendOfKnown(memory, kind, { head: reader.head }) ?? null;
    }
    const names = block.known?.names ?? memory.takeNames(block, reader);
    if (names === undefined) return null;
    if (within === null) return addendOfNames(names);
    return namesOfRows(names, reader, ALL_ROWS.rows(reader, within));
  }

  /** Undefined, and the sums incomplete, where something is damaged. */
  private read<T>(kinds: readonly ListKind[], what: string, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof DamagedBlock) && !(error instanceof DamagedList)) throw error;
      for (const kind of kinds) this.incomplete.add(kind);
      this.parts.request.onDamaged(what, reasonOf(error));
      return undefined;
    }
  }
}

interface MissingBlock extends BlockPart {
  /** Without content. */
  readonly place: StoredBlock;
  readonly key: string;
  /** Sums that it is not in. */
  readonly kinds: readonly ListKind[];
}

/** A block of a range with its key. */
function partOf(
  { block, key }: ListedBlock,
  { fromUs, toUs }: TimeSpan,
  fresh: FreshContent | undefined,
): [string, BlockPart] {
  const { firstUs, lastUs } = block;
  if (firstUs >= fromUs && lastUs < toUs) return [key, { block, within: null, fresh }];
  const within = { fromUs: Math.max(fromUs, firstUs), toUs: Math.min(toUs, lastUs + 1) };
  return [`${key} ${within.fromUs} ${within.toUs}`, { block, within, fresh: undefined }];
}
