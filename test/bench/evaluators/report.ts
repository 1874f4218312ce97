/** The measured figures as tables in Markdown. */
import { median, type Piece } from './measuring.ts';

export interface MeasuredEvaluator {
  readonly id: string;
  readonly judged: boolean;
  /** Results by size of the run. */
  readonly cells: readonly ({ readonly kind: 'measured'; readonly piece: Piece } | { readonly kind: 'unscored'; readonly why: string })[];
}

export interface MeasuredComparison {
  readonly what: string;
  readonly against: string;
  readonly ours: Piece;
  readonly theirs: Piece;
}

/** Ten times the calls may cost a hundred times the work; figures of a shared machine scatter. */
const quadratic = 100;
const scatter = 1.3;
/** Less work than this is mostly what every evaluation costs. */
const microsMin = 200;

export function growthTable(
  rows: readonly MeasuredEvaluator[],
  sizes: readonly number[],
): { readonly text: string; readonly tooSteep: boolean } {
  const steep = rows.filter(({ cells }) => isTooSteep(figureOf(cells.at(-2)), figureOf(cells.at(-1))));
  const lines = rows.map(({ id, judged, cells }) => {
    const figures = cells.map(figureOf);
    const growths = figures.slice(1).map((figure, at) => ratio(figure, figures[at]));
    return [
      `${id}${judged ? ' *' : ''}`,
      ...cells.map((cell) => (cell.kind === 'measured' ? rounded(median(cell.piece.micros)) : '–')),
      ...growths,
    ];
  });
  const heads = [
    'evaluator',
    ...sizes.map((size) => `µs, ${size} calls`),
    ...sizes.slice(1).map((size, at) => `× from ${sizes[at]} to ${size}`),
  ];
  const unscored = rows.flatMap(({ id, cells }) => [
    ...new Set(cells.flatMap((cell) => (cell.kind === 'unscored' ? [`${id} (${cell.why})`] : []))),
  ]);
  const notes = [
    rows.some(({ judged }) => judged) ? '* asks a judge; its answers were at hand.' : '',
    unscored.length === 0 ? 'All scored.' : `Not scored: ${unscored.join('; ')}.`,
  ].filter((note) => note !== '');
  const note =
    steep.length === 0
      ? 'None grows faster than the square of the calls.'
      : `FASTER THAN THE SQUARE: ${steep.map(({ id }) => id).join(', ')}.`;
  return { text: `${table(heads, lines)}\n\n${[...notes, note].join('\n')}`, tooSteep: steep.length > 0 };
}

export function comparisonTable(rows: readonly MeasuredComparison[]): string {
  const lines = rows.map(({ what, against, ours, theirs }) => [
    what,
    rounded(median(ours.micros)),
    against,
    rounded(median(theirs.micros)),
    `${rounded(median(theirs.micros) / median(ours.micros))} ×`,
  ]);
  return table(['ours', 'µs', 'theirs', 'µs', 'ratio'], lines);
}

function figureOf(cell: MeasuredEvaluator['cells'][number] | undefined): number | undefined {
  return cell?.kind === 'measured' ? median(cell.piece.micros) : undefined;
}

function isTooSteep(before: number | undefined, after: number | undefined): boolean {
  return before !== undefined && after !== undefined && after > microsMin && after / before > quadratic * scatter;
}

function ratio(figure: number | undefined, before: number | undefined): string {
  return figure === undefined || before === undefined ? '' : rounded(figure / before);
}

function rounded(number: number): string {
  return number >= 100 ? String(Math.round(number)) : number.toFixed(1);
}

function table(heads: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = heads.map((head, at) => Math.max(head.length, ...lines.map((line) => (line[at] ?? '').length)));
  const row = (cells: readonly string[]): string => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [row(heads), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...lines.map(row)].join('\n');
}
