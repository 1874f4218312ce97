/** Verdicts of judges beside those of people on the same runs, and people beside one another. */
import type { Schemas } from '../../api/client.ts';
import type { Query } from '../../parts/address.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { countText, percentText, scoreText, unknownText } from '../../parts/format.ts';
import { runsAddress } from '../../parts/page-links.ts';
import { RateCell } from '../../parts/rate-cell.tsx';

type Judge = Schemas['JudgeFigures'];
type People = Schemas['PeopleFigures'];

export interface AgreementProps {
  readonly judges: readonly Judge[];
  readonly people: readonly People[];
  /** Filters of the runs behind the figures. */
  readonly runs: Query;
}

export function AgreementSection({ judges, people, runs }: AgreementProps) {
  return (
    <section class="stack">
      <h2>Agreement with people</h2>
      <p class="dim">
        Of runs that a person and the evaluator judged. <em>Missed</em>: people fail the run, the evaluator passes it. <em>False alarm</em>:
        the evaluator fails the run, people pass it. Kappa is agreement beyond chance: 0 is chance, 1 is the same verdict on each run.
        Shares and kappa hold for all traffic and come from labels of runs that a queue drew at random. <em>Chosen labels</em> are those of
        other runs, as counted, without correction.
      </p>
      {judges.length === 0 ? (
        <p>No evaluator with a judge is on.</p>
      ) : (
        <DataTable name="agreement" caption="Agreement of evaluators with people" columns={columnsOf(runs)} rows={judges} rowKey={rowKey} />
      )}
      {judges.length > 0 && judges.every((one) => one.runs === 0) ? (
        <p>
          Nobody has labelled a judged run in this time, so nothing says whether the judges are right. Add a queue that asks about the
          evaluator, and label the runs that it draws at random: some hundred labels give a first figure.
        </p>
      ) : null}
      {people.length === 0 ? null : (
        <>
          <h3>People among themselves</h3>
          <DataTable
            caption="Agreement of people with one another"
            columns={peopleColumns}
            rows={people}
            rowKey={({ name, about }) => `${name} ${about}`}
          />
        </>
      )}
    </section>
  );
}

function rowKey({ name, about, version, model, kind }: Judge): string {
  return JSON.stringify([name, about, version, model, kind]);
}

function columnsOf(filters: Query): readonly Column<Judge>[] {
  const runs = ({ name }: Judge, verdict: string, label: string): string =>
    runsAddress(filters, { ...filters, evaluator: name, verdict, label: `${name}=${label}`, annotated: 'true' });
  const linked = (row: Judge, count: number, verdict: string, label: string) =>
    count === 0 ? '0' : <a href={runs(row, verdict, label)}>{countText(count)}</a>;
  return [
    {
      key: 'name',
      title: 'Evaluator',
      cell: ({ name, about }) => (
        <>
          {name}
          {about === 'tool_call' ? <span class="dim small"> by tool call</span> : null}
        </>
      ),
    },
    { key: 'model', title: 'Model', from: 'wide', cell: ({ model }) => model ?? unknownText },
    { key: 'version', title: 'Version', from: 'wide', isNumber: true, cell: ({ version }) => String(version) },
    { key: 'runs', title: 'Labelled', isNumber: true, cell: ({ runs: labelled }) => countText(labelled) },
    { key: 'drawn', title: 'Drawn at random', isNumber: true, cell: ({ drawn_labels: drawn }) => countText(drawn) },
    { key: 'kappa', title: 'Kappa', cell: ({ kappa }) => <RateCell estimate={kappa} text={scoreText} min={-1} mark={0} /> },
    { key: 'accuracy', title: 'Same verdict', cell: ({ accuracy }) => <RateCell estimate={accuracy} /> },
    { key: 'both_pass', title: 'Both pass', isNumber: true, cell: (row) => linked(row, row.both_pass, 'pass', 'pass') },
    { key: 'both_fail', title: 'Both fail', isNumber: true, cell: (row) => linked(row, row.both_fail, 'fail', 'fail') },
    { key: 'missed', title: 'Missed', isNumber: true, cell: (row) => linked(row, row.missed, 'pass', 'fail') },
    { key: 'false_alarms', title: 'False alarms', isNumber: true, cell: (row) => linked(row, row.false_alarms, 'fail', 'pass') },
    { key: 'precision', title: 'Precision', from: 'wide', cell: ({ precision }) => <RateCell estimate={precision} /> },
    { key: 'recall', title: 'Recall', from: 'wide', cell: ({ recall }) => <RateCell estimate={recall} /> },
    { key: 'chosen', title: 'Chosen labels', from: 'wide', cell: ({ chosen_labels: chosen }) => chosenText(chosen), wraps: true },
  ];
}

function chosenText({ runs, accuracy, precision, recall }: Judge['chosen_labels']): string {
  if (runs === 0) return unknownText;
  const shares = [['same verdict', accuracy] as const, ['precision', precision] as const, ['recall', recall] as const];
  return `${countText(runs)}: ${shares.flatMap(([name, share]) => (share === null ? [] : [`${name} ${percentText(share)}`])).join(', ')}, not corrected`;
}

const peopleColumns: readonly Column<People>[] = [
  { key: 'name', title: 'Label', cell: ({ name }) => name },
  { key: 'people', title: 'People', isNumber: true, cell: ({ people }) => countText(people) },
  { key: 'runs', title: 'Labelled', isNumber: true, cell: ({ runs }) => countText(runs) },
  { key: 'disputed', title: 'Disputed', isNumber: true, cell: ({ disputed }) => countText(disputed) },
  { key: 'unreadable', title: 'Unknown labels', isNumber: true, cell: ({ unreadable }) => countText(unreadable) },
  { key: 'kappa', title: 'Mean kappa', isNumber: true, cell: ({ mean_kappa: kappa }) => scoreText(kappa) },
  {
    key: 'pairs',
    title: 'Pairs',
    cell: ({ pairs }) =>
      pairs
        .slice(0, 3)
        .map(({ people, runs, kappa }) => `${people.join(' and ')}: ${scoreText(kappa.point)} of ${runs}`)
        .join('; ') || unknownText,
    wraps: true,
  },
];
