/** What to switch on, what it would bring for which evaluators, and where the spans would then carry it. */
import { lackTexts, placesOf } from '../../pipeline/remedies.ts';
import type { Evaluability } from './evaluability.ts';

/** An evaluator that lacked something in some run. */
export type Lacking = Pick<Evaluability, 'name' | 'lack' | 'hints'>;

const lineMax = 120;
const placesMax = 6;

/** A block for each thing that one can do, with what it would bring; none when nothing is missing that somebody could help with. */
export function moreLines(all: readonly Lacking[], { dialects, indent }: { readonly dialects: readonly string[]; readonly indent: string }): readonly string[] {
  const lacking = all.flatMap((one) => one.hints.map((hint) => ({ hint, lack: one.lack, name: one.name })));
  const blocks = [...Map.groupBy(lacking, ({ hint }) => hint)].flatMap(([hint, some]) => [
    `${indent}  ${hint}`,
    ...[...Map.groupBy(some, ({ lack }) => lack)].flatMap(([lack, same]) => wrapped(bringsWords(lack, new Set(same.map(({ name }) => name)), dialects), `${indent}    `)),
  ]);
  return blocks.length === 0 ? [] : [`${indent}To score more`, ...blocks];
}

function bringsWords(lack: Evaluability['lack'], names: ReadonlySet<string>, dialects: readonly string[]): readonly string[] {
  if (lack === undefined || lack === 'options') return [`for ${[...names].join(', ')}`];
  const places = placesOf(lack, dialects);
  const what = `${lackTexts[lack]}, for ${[...names].join(', ')}`;
  if (places.length === 0) return [what];
  return [`${what}; looked for in ${places[0]}`, ...places.slice(1, placesMax), ...(places.length > placesMax ? ['…'] : [])];
}

/** Words with commas, in as many lines as they need. */
export function wrapped(words: readonly string[], indent: string): readonly string[] {
  const lines: string[] = [];
  for (const [index, word] of words.entries()) {
    const text = index === words.length - 1 ? word : `${word},`;
    const last = lines.at(-1);
    if (last !== undefined && last.length + text.length < lineMax) lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(`${indent}${last === undefined ? '' : '  '}${text}`);
  }
  return lines;
}
