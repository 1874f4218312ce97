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

/** In Markdown: a row for each instrumentation, and one for each batch. */
export function firstContactTable(): readonly string[] {
  const batches = Map.groupBy(measured, ({ batch }) => batch);
  return [
    '| batch | measured | instrumentation | equal | of | right | wrong | missing | differs in | afterwards |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...[...batches].flatMap(([batch, own]) => [
      ...own.map((one) =>
        row(
          [batch, one.commit === undefined ? one.measured : `${one.measured}, ${one.commit}`, one.instrumentation],
          Object.entries(one.scenarios),
          true,
          one.after,
        ),
      ),
      row(
        [batch, '', 'all'],
        own.flatMap(({ scenarios }) => Object.entries(scenarios)),
        false,
        sumOf(own.flatMap(({ after }) => after ?? [])),
      ),
    ]),
  ];
}

function row(
  titles: readonly (string | number)[],
  scenarios: readonly (readonly [name: string, outcome: Outcome])[],
  isNamed = true,
  after?: After,
): string {
  const sum = (of: 'right' | 'wrong' | 'missing'): number => scenarios.reduce((total, [, outcome]) => total + outcome[of], 0);
  const differing = scenarios.filter(([, { equal }]) => !equal).map(([name]) => name);
  const equal = scenarios.length - differing.length;
  return `| ${[...titles, equal, scenarios.length, sum('right'), sum('wrong'), sum('missing'), isNamed ? differing.join(', ') : '', afterwards(after)].join(' | ')} |`;
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
