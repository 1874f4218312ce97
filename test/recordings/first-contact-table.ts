/** Shows how instrumentations were read when they were recorded, before anything was changed for them: `data/first-contact.json` keeps it. */
import measured from './data/first-contact.json' with { type: 'json' };

interface Outcome {
  readonly equal: boolean;
  readonly right: number;
  readonly wrong: number;
  readonly missing: number;
}

/** Fields read from one instrumentation. */
export interface Contact {
  readonly instrumentation: string;
  readonly scenarios: { readonly [scenario: string]: Outcome };
}

/** The reading of the same recordings once the readers had changed for them. */
interface After {
  readonly equal: number;
  readonly wrong: number;
  readonly missing: number;
}

/** In Markdown: a row for each batch. */
export function firstContactTable(): readonly string[] {
  return [
    '| batch | measured | instrumentations | recordings | equal | right | wrong | missing | afterwards |',
    '|---|---|---|---|---|---|---|---|---|',
    ...[...Map.groupBy(measured, ({ batch }) => batch)].map(([batch, own]) => {
      const days = new Set(own.map((one) => (one.commit === undefined ? one.measured : `${one.measured}, ${one.commit}`)));
      const outcomes = own.flatMap(({ scenarios }) => Object.values<Outcome>(scenarios));
      const sum = (of: 'right' | 'wrong' | 'missing'): number => outcomes.reduce((total, outcome) => total + outcome[of], 0);
      const equal = outcomes.filter((outcome) => outcome.equal).length;
      const after = afterwards(sumOf(own.flatMap((one) => one.after ?? [])));
      return `| ${[batch, [...days].join('; '), own.length, outcomes.length, equal, sum('right'), sum('wrong'), sum('missing'), after].join(' | ')} |`;
    }),
  ];
}

function afterwards(after: After | undefined): string {
  return after === undefined ? '' : `${after.equal} equal, ${after.wrong} wrong, ${after.missing} missing`;
}

function sumOf([first, ...others]: readonly After[]): After | undefined {
  return others.reduce<After | undefined>(
    (sum, { equal, wrong, missing }) =>
      sum === undefined ? sum : { equal: sum.equal + equal, wrong: sum.wrong + wrong, missing: sum.missing + missing },
    first,
  );
}
