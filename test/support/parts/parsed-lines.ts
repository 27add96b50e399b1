/** The rules and statistics that ListParser extracts from a text, for tests of the parser's parts. */
import { RuleKind } from '../../../shared/snapshot/rule-table.ts';
import type { BadFilter, SpecialLine } from '../../../control-plane/policy/compile/parse/adblock-rule.ts';
import type { ListReading } from '../../../control-plane/policy/compile/parse/line-rules.ts';
import type { ListStatistics } from '../../../control-plane/policy/compile/parse/list-statistics.ts';
import { ListParser } from '../../../control-plane/policy/compile/parse/parse-list.ts';
import { SpecialRuleSet } from '../../../control-plane/policy/compile/table/special-rule-set.ts';

const KIND_NAMES = new Map<number, string>(Object.entries(RuleKind).map(([name, bit]) => [bit, name]));

/** A parsed list. */
interface ParsedLines extends ListStatistics {
  readonly names: string[];
  readonly special: SpecialLine[];
  readonly specialLines: number[];
  readonly badFilters: BadFilter[];
}

/** Parses `text` as a list, and stores all rules and statistics. */
export function parseLines(
  text: string,
  reading: ListReading = { kind: 'block', subdomains: false },
): ParsedLines {
  const names: string[] = [];
  const special: SpecialLine[] = [];
  const specialLines: number[] = [];
  const badFilters: BadFilter[] = [];
  const rules = new SpecialRuleSet();
  const parser = new ListParser(
    reading,
    (bytes, start, end, kind) => {
      const name = Buffer.from(bytes.subarray(start, end)).toString('latin1').toLowerCase();
      names.push(`${KIND_NAMES.get(kind)} ${name}`);
    },
    {
      special: (rule, line) => {
        const refused = rules.add({ ...rule, source: 0, line });
        if (refused !== null) return { invalid: true, reason: refused };
        special.push(rule);
        specialLines.push(line);
        return null;
      },
      badFilter: (badFilter) => badFilters.push(badFilter) > 0,
    },
  );
  parser.push(Buffer.from(text));
  return { ...parser.end(), names, special, specialLines, badFilters };
}
