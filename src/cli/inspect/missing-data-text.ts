/** What to switch on, what it would bring for which evaluators, and where the spans would then carry it. */
import { lackTexts, placesOf } from '../../pipeline/reporting/missing-data.ts';
import type { Evaluability } from './evaluability.ts';

/** An evaluator that lacked something in some run. */
export type Lacking = Pick<Evaluability, 'name' | 'lack' | 'hints'>;

const lineMax = 120;
const placesMax = 6;

/** A block for each remedy, with what it would bring; none when no remedy would help. */
export function moreLines(
  all: readonly Lacking[],
  { dialects, indent }: { readonly dialects: readonly string[]; readonly indent: string },
): readonly string[] {
  const lacking = all.flatMap((one) => one.hints.map((hint) => ({ hint, lack: one.lack, name: one.name })));
  const blocks = [...Map.groupBy(lacking, ({ hint }) => hint)].flatMap(([hint, some]) => [
    `${indent}  ${hint}`,
    ...[...Map.groupBy(some, ({ lack }) => lack)].flatMap(([lack, same]) =>
      wrapped(brings(lack, new Set(same.map(({ name }) => name)), dialects), `${indent}    `),
    ),
  ]);
  return blocks.length === 0 ? [] : [`${indent}To score more`, ...blocks];
}

function brings(lack: Evaluability['lack'], names: ReadonlySet<string>, dialects: readonly string[]): string {
  const who = `for ${[...names].join(', ')}`;
  if (lack === undefined || lack === 'options') return who;
  const places = placesOf(lack, dialects);
  const searched = [...places.slice(0, placesMax), ...(places.length > placesMax ? ['…'] : [])].join(', ');
  return `${lackTexts[lack]}, ${who}${searched === '' ? '' : `; looked for in ${searched}`}`;
}

/** Words in as many lines as they need; those after the first stand deeper. */
export function wrapped(text: string, indent: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < lineMax) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${indent}${last === undefined ? '' : '  '}${word}`);
  }
  return lines;
}
