/** How far people agree, question by question, and who has answered how much. */
import type { Schemas } from '../../api/client.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Figure } from '../../parts/figure.tsx';
import { countText, scoreText } from '../../parts/format.ts';

type QueueAgreement = Schemas['QueueAgreement'];
type PersonCount = Schemas['QueueFigures']['by_person'][number];

const columns: readonly Column<QueueAgreement>[] = [
  { key: 'name', title: 'Question', cell: ({ name }) => name },
  { key: 'items', title: 'Items of two or more', isNumber: true, cell: ({ items }) => countText(items) },
  { key: 'people', title: 'People', isNumber: true, cell: ({ people }) => countText(people) },
  { key: 'share', title: 'Same answer', isNumber: true, cell: ({ share }) => <Figure value={share} why="No item has two answers yet." /> },
  {
    key: 'kappa',
    title: 'Fleiss’ kappa',
    isNumber: true,
    cell: ({ fleiss, difference }) =>
      fleiss === null ? (
        `mean difference ${scoreText(difference)}`
      ) : (
        <Figure
          value={fleiss.point}
          low={fleiss.low}
          high={fleiss.high}
          n={fleiss.n}
          text={kappaText}
          why={fleiss.not_estimable?.explanation}
        />
      ),
  },
];

const people: readonly Column<PersonCount>[] = [
  { key: 'person', title: 'Person', cell: ({ person }) => person },
  { key: 'answers', title: 'Answered', isNumber: true, cell: ({ answers }) => countText(answers) },
  { key: 'skips', title: 'Skipped', isNumber: true, cell: ({ skips }) => countText(skips) },
];

function kappaText(value: number): string {
  return value.toFixed(2);
}

export function Agreement({ queue }: { readonly queue: Schemas['QueueFigures'] }) {
  if (queue.by_person.length === 0) return null;
  return (
    <section class="stack">
      <h2>Agreement</h2>
      {queue.agreement.length === 0 ? null : (
        <DataTable caption="Agreement of people by question" columns={columns} rows={queue.agreement} rowKey={({ name }) => name} />
      )}
      <DataTable caption="Answers by person" columns={people} rows={queue.by_person} rowKey={({ person }) => person} />
      <p class="small">
        <a href="/judges">Judges against people</a>
      </p>
    </section>
  );
}
